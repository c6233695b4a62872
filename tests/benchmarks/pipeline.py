"""Times the whole flow: MB/s per core of each stage and of all, memory per process, and the ratio to obvious Python.

    python tests/benchmarks/pipeline.py FOLDER --tokenizer FILE [--word-lists FOLDER] [--workers N] [--out DIR]

FOLDER holds .jsonl[.gz|.zst] and .parquet files with a column `text`, a dataset each; those named code* are not
filtered. MB are 10⁶ bytes of UTF-8 text as loaded. Start-up (Ray, compiling, loading) is told apart. The obvious Python
is `re` and `str` for text and signals, datasketch with its own SHA-1 for signatures, and `tokenizers`, on one core and
without reading, matching and writing.
"""

import argparse
import shutil
import tempfile
import threading
import time
from pathlib import Path

import psutil
import tokenizers
from datasketch import MinHash
from signals import read, twin_characters, twin_matches, twin_pii, twin_transform, twin_words

from zydaflow.pipeline import run
from zydaflow.provenance.run_file import read_run
from zydaflow.provenance.waterfall import load
from zydaflow.recipe import Recipe, load_recipe

WORD_LISTS = {
    "sexual": "sexual_word_list.json",
    "profanity": "profanity_word_list.json",
    "zh_pornsignals": "zh_pornsignals.json",
    "cursed_substrings": "cursed_substrings.json",
}


class Memory(threading.Thread):
    """Watches the anonymous and shared memory (not mapped files) of each Ray worker below this process."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stopped = threading.Event()
        self.peaks: dict[int, int] = {}
        self.total = 0

    def run(self) -> None:
        while not self.stopped.wait(0.2):
            total = 0
            for process in psutil.Process().children(recursive=True):
                size = _own_memory(process.pid)
                total += size
                if "ray::" in _title(process):
                    self.peaks[process.pid] = max(self.peaks.get(process.pid, 0), size)
            self.total = max(self.total, total)


def _own_memory(pid: int) -> int:
    """PSS of anonymous and shared pages, in bytes; 0 for a process that is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    wanted = ("Pss_Anon:", "Pss_Shmem:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(wanted))


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def recipe_of(options: argparse.Namespace, out: str) -> Recipe:
    """The benchmark's recipe: zyda's rules on all but code, zyda's dedup."""
    files = sorted(p for p in Path(options.folder).iterdir() if p.is_file())
    datasets = [
        {
            "name": file.name.split(".")[0],
            "path": str(file),
            **({"filters": []} if file.name.startswith("code") else {}),
        }
        for file in files
    ]
    lists = (
        {name: str(Path(options.word_lists) / file) for name, file in WORD_LISTS.items()} if options.word_lists else {}
    )
    return load_recipe(
        {
            "name": "benchmark",
            "datasets": datasets,
            "filters": ["zyda"],
            "word_lists": lists,
            "dedup": {"threshold": 0.4, "bands": 32, "rows": 4},
            "tokenizer": options.tokenizer,
            "output": {"path": out},
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--word-lists")
    parser.add_argument("--workers", type=int, default=psutil.cpu_count())
    parser.add_argument("--out", help="default: a temporary folder, removed at the end")
    options = parser.parse_args()
    out = options.out or tempfile.mkdtemp(prefix="zydaflow-benchmark-")
    memory = Memory()
    memory.start()
    started = time.perf_counter()
    run(recipe_of(options, out), workers=options.workers)
    wall = time.perf_counter() - started
    memory.stopped.set()
    memory.join()
    rate = report(out, options.workers, wall, memory)
    python = obvious(options.folder, options.tokenizer)
    print(f"the obvious Python: {python:.2f} MB/s on one core; the whole flow: {rate / python:.0f} × that per core")
    if not options.out:
        shutil.rmtree(out)


def obvious(folder: str, tokenizer: str) -> float:
    """MB/s of the obvious Python on every 50th document, up to some MB."""
    texts = read(Path(folder))[::50]
    model = tokenizers.Tokenizer.from_file(tokenizer)
    started = time.perf_counter()
    for text in texts:
        transformed = twin_transform(text)
        for twin in (twin_characters, twin_matches, twin_pii):
            twin(text)
        twin_words(transformed)
        words = transformed.lower().split()
        shingles = {" ".join(words[k : k + 13]).encode() for k in range(max(1, len(words) - 12))}
        MinHash(128, scheme="affine32").update_batch(list(shingles))
        model.encode(text)
    return sum(len(text.encode()) for text in texts) / 1e6 / (time.perf_counter() - started)


def report(out: str, workers: int, wall: float, memory: Memory) -> float:
    """Prints the figures of a finished run; returns the whole flow's MB/s per core."""
    total, told = load(out)["total"]["read"], read_run(out)
    assert told is not None
    stages = told["runs"][-1]["stages"]
    startup = stages.pop("start-up")["wall"]
    print(f"\n{total['documents']:,} documents, {total['bytes'] / 1e6:.1f} MB of text, {workers} workers")
    print(f"{'stage':<10} {'wall s':>8} {'work s':>8} {'MB':>9} {'MB/s per core':>14} {'documents/s per core':>21}")
    for name, t in stages.items():
        if t["units"]:
            print(
                f"{name:<10} {t['wall']:>8.2f} {t['seconds']:>8.2f} {t['bytes'] / 1e6:>9.1f} "
                f"{t['bytes'] / 1e6 / t['seconds']:>14.1f} {t['documents'] / t['seconds']:>21,.0f}"
            )
    after = sum(t["wall"] for t in stages.values())
    print(f"start-up {startup:.1f} s; whole command {wall:.1f} s")
    rate = total["bytes"] / 1e6 / after / workers
    print(f"all stages, after start-up: {after:.1f} s = {rate:.1f} MB/s per core")
    print(f"peak memory (anonymous and shared) of one worker: {max(memory.peaks.values(), default=0) / 1e9:.2f} GB")
    print(f"peak memory of all processes together, Ray's own included: {memory.total / 1e9:.2f} GB")
    return rate


if __name__ == "__main__":
    main()
