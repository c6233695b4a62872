"""Times adding a dataset to a finished run, beside one run over everything; the results must be the same to the byte.

    python tests/benchmarks/extend.py FOLDER --tokenizer FILE [--workers N]

FOLDER is that of `pipeline.py`; the dataset of the first file is the one that is added, at the best rank. Start-up is
not in the times. What `work/` keeps per kept document is printed too.
"""

import argparse
import hashlib
import tempfile
from collections import Counter
from pathlib import Path

import psutil
from pipeline import recipe_of

from zydaflow.pipeline import extend, run
from zydaflow.provenance.commits import Store
from zydaflow.provenance.run_file import read_run
from zydaflow.provenance.waterfall import load


def seconds(out: Path) -> float:
    """By the clock, of the last run in a folder, after start-up."""
    told = read_run(out)
    assert told is not None
    return sum(timing["wall"] for stage, timing in told["runs"][-1]["stages"].items() if stage != "start-up")


def results(out: Path) -> dict[str, str]:
    """SHA-256 of the files that must be the same."""
    files = [*out.glob("corpus/**/*"), *out.glob("evidence/*"), out / "statistics.json"]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files if p.is_file()}


def report_work(out: Path) -> None:
    """Prints bytes per kept document of each area of `work/`."""
    kept = [record.counts for record in Store(out).records("keep")]
    documents, text = (sum(counts[name] for counts in kept) for name in ("documents", "kept_bytes"))
    sizes: Counter[str] = Counter()
    for path in out.glob("work/**/*"):
        if path.is_file():
            sizes[path.relative_to(out).parts[1]] += path.stat().st_size
    areas = ", ".join(f"{area} {size / documents:.0f}" for area, size in sizes.most_common())
    print(f"work/, bytes per kept document: {areas}; kept text at {sizes['kept'] / text:.2f} of its bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--workers", type=int, default=psutil.cpu_count())
    options = parser.parse_args()
    options.word_lists = None
    with tempfile.TemporaryDirectory(prefix="zydaflow-benchmark-") as folder:
        whole, grown = Path(folder) / "whole", Path(folder) / "grown"
        everything, later = recipe_of(options, str(whole)), recipe_of(options, str(grown))
        run(everything, workers=options.workers)
        run(later.model_copy(update={"datasets": later.datasets[1:]}), workers=options.workers)
        before = seconds(grown)
        extend(grown, later, workers=options.workers)
        assert results(grown) == results(whole)
        read = load(whole)["datasets"]
        added = read[later.datasets[0].name]["read"]
        documents = sum(dataset["read"]["documents"] for dataset in read.values())
        print(f"{added['documents']:,} of {documents:,} documents added, {added['bytes'] / 1e6:.0f} MB")
        print(f"one run over everything {seconds(whole):.1f} s, one over the old ones {before:.1f} s")
        print(f"extend {seconds(grown):.1f} s, the same to the byte")
        report_work(grown)


if __name__ == "__main__":
    main()
