"""Deduplication beside datatrove's MinHash, for speed, and beside brute force, for what is found and what goes wrongly.

    pip install -e '.[test,peers]'
    python tests/benchmarks/peers.py FOLDER…

Each FOLDER holds .jsonl[.gz|.zst] and .parquet files with a column `text`, a dataset each, ranked by their names. Per
100 MB it takes some minutes and 2 GB of memory. For each folder and setting it prints a table:

removed       documents that went
rightly       of those, the share whose exact Jaccard with some document that stays is the threshold or more (precision)
far off       how many are not even within 0.1 below the threshold to any document that stays
left          documents that should still go: those that the rule of deciding, with exact Jaccard, removes from the rest
found         the share that went rightly, of those and of what is left (recall)
MB/s          of raw text, on one worker

Brute force is that rule over all pairs of documents: one goes if it has the threshold or more with one that comes
before it and stays. Everyone has 13-word shingles and the same bands and rows.

datatrove gets texts that are normalised beforehand and words by the spaces in them, so that its shingles are those of
zydaflow, and uint32 hashes as here, no compression, and buffers as large as it likes. "As it comes" it normalises raw
text and finds words its own way (English, by spaCy), which is timed on every 20th document. Its seconds are those of
its four steps, from JSON Lines to JSON Lines of what stays. Those of zydaflow are a whole run without rules and
tokenizer, from JSON Lines of raw text to the corpus, evidence and report, less the start-up (Ray, compiling kernels).
Both have fixed costs, zydaflow about 2 s, which is most of the time that a small folder takes.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import fsspec
import numpy as np
import orjson
import pyarrow.parquet as pq
import xxhash

from zydaflow import load_recipe, open_run, run

sys.path.append(str(Path(__file__).resolve().parent.parent / "dedup"))
import twins

try:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.dedup import (
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.hashing import HashConfig
    from datatrove.utils.text import TextNormConfig
    from datatrove.utils.typeshelper import Languages
    from datatrove.utils.word_tokenizers import WordTokenizer
except ImportError as error:
    raise SystemExit(f"{error}; this benchmark needs: pip install -e '.[test,peers]'") from error

SHINGLE = 13
NEAR = 0.1  # a removal this far below the threshold is no matter of the signatures' standard error, at most 0.044
WAYS: dict[str, dict[str, object]] = {
    "`verify: exact`": {"verify": "exact"},
    "`verify: signature`": {"verify": "signature"},
    "`verify: none`": {"verify": "none", "passes": ["joint"]},
}
SAMPLE = 20  # every 20th document is enough to time what takes so long
UNCHANGED = TextNormConfig(
    lowercase=False, norm_whitespace=False, remove_punctuation=False, norm_unicode_diacritics=False, norm_numbers=False
)


class Setting(NamedTuple):
    threshold: float
    bands: int
    rows: int


SETTINGS = (Setting(0.4, 32, 4), Setting(0.4, 42, 3), Setting(0.8, 14, 9))
"""zyda.yaml's, and what recipes get that leave bands and rows out."""


class Document(NamedTuple):
    dataset: str
    text: str


class Outcome(NamedTuple):
    """What a tool did."""

    removed: set[int]  # numbers of documents
    seconds: float


Similar = list[dict[int, float]]
"""By document: the others and their Jaccard, where that is high enough to matter."""


def texts_of(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        return pq.read_table(path, columns=["text"])["text"].to_pylist()
    with fsspec.open(str(path), "rb", compression="infer") as file:
        return [orjson.loads(line)["text"] for line in file.read().split(b"\n") if line.strip()]


def read(folder: Path) -> list[Document]:
    """The documents in the order in which they come before one another: by rank, then by the hash of the text."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return [
        Document(file.name.split(".")[0], text)
        for file in files
        for text in sorted(texts_of(file), key=lambda text: xxhash.xxh3_128_digest(text.encode()))
    ]


def shingles(text: str) -> set[str]:
    return twins.shingles(text, "word", SHINGLE)


def all_pairs(texts: Iterable[str], least: float) -> Similar:
    """Jaccard of every two texts by an inverted index of their shingles, as 64-bit hashes; none below `least`."""
    sets = [np.array([xxhash.xxh3_64_intdigest(s.encode()) for s in shingles(t)], np.uint64) for t in texts]
    sizes = np.array([len(hashes) for hashes in sets])
    _, known, holders = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    documents = np.repeat(np.arange(len(sets)), sizes)[np.argsort(known, kind="stable")]
    ends = np.cumsum(holders)
    similar: Similar = []
    for i, own in enumerate(np.split(known, np.cumsum(sizes)[:-1])):
        shared = own[holders[own] > 1]
        lists = [documents[end - n : end] for end, n in zip(ends[shared], holders[shared], strict=True)]
        common = np.bincount(np.concatenate(lists)) if lists else np.zeros(0, np.int64)
        others = np.flatnonzero(common)
        others = others[others != i]
        jaccard = common[others] / (sizes[i] + sizes[others] - common[others])
        high = jaccard >= least
        similar.append(dict(zip(others[high].tolist(), jaccard[high].tolist(), strict=True)))
    return similar


def greedy(documents: Iterable[int], similar: Similar, threshold: float) -> set[int]:
    """Those of the documents that go: one with the threshold or more to one that comes before it and stays."""
    stays: set[int] = set()
    gone: set[int] = set()
    for document in sorted(documents):
        alike = any(jaccard >= threshold and other in stays for other, jaccard in similar[document].items())
        (gone if alike else stays).add(document)
    return gone


def zydaflow(documents: list[Document], setting: Setting, way: dict[str, object]) -> Outcome:
    names = list(dict.fromkeys(document.dataset for document in documents))
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        files = {name: Path(folder) / f"raw/{name}.jsonl" for name in names}
        for name, file in files.items():
            write(file, ((i, document.text) for i, document in enumerate(documents) if document.dataset == name))
        recipe = load_recipe(
            {
                "name": "peers",
                "datasets": [{"name": name, "path": str(file), "id": "id"} for name, file in files.items()],
                "dedup": {**setting._asdict(), **way},
                "output": {"path": f"{folder}/run"},
            }
        )
        seconds = timed(lambda: run(recipe, workers=1))
        done = open_run(f"{folder}/run")
        startup = done.made_of["runs"][-1]["stages"]["start-up"]["wall"]
        return Outcome(set(map(int, done.removed()["id"].to_pylist())), seconds - startup)


class Spaces(WordTokenizer):
    """Words by the spaces between them."""

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        raise NotImplementedError

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        raise NotImplementedError


def datatrove(texts: list[str], setting: Setting, normalise: TextNormConfig, words: str | WordTokenizer) -> Outcome:
    """What it does with texts by this normalisation, and by the words of this language or tokenizer."""
    _, bands, rows = setting
    config = MinhashConfig(SHINGLE, bands, rows, norm_config=normalise, hash_config=HashConfig(precision=32))
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        write(folder / "given/00000.jsonl", enumerate(texts))
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
            seconds = timed(lambda: four_steps(folder, config, words))
        stay = {int(orjson.loads(line)["id"]) for line in (folder / "kept/00000.jsonl").read_bytes().splitlines()}
    return Outcome(set(range(len(texts))) - stay, seconds)


def four_steps(folder: Path, config: MinhashConfig, words: str | WordTokenizer) -> None:
    given, signatures, pairs, removals, kept = (
        str(folder / name) for name in ("given", "signatures", "pairs", "removals", "kept")
    )
    steps: list[tuple[int, list[PipelineStep]]] = [
        (1, [JsonlReader(given), MinhashDedupSignature(signatures, config, words)]),
        (config.num_buckets, [MinhashDedupBuckets(signatures, pairs, config=config, lines_to_buffer=-1)]),
        (1, [MinhashDedupCluster(pairs, removals, config, lines_to_buffer=-1)]),
        (1, [JsonlReader(given), MinhashDedupFilter(removals), JsonlWriter(kept, compression=None)]),
    ]
    for number, (tasks, pipeline) in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks, workers=1, logging_dir=str(folder / f"logs/{number}")).run()


def write(path: Path, texts: Iterable[tuple[int, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for number, text in texts:
            file.write(orjson.dumps({"id": str(number), "text": text}, option=orjson.OPT_APPEND_NEWLINE))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def row(name: str, removed: set[int], similar: Similar, threshold: float, rate: str) -> str:
    """A row of the table: how good it is that these documents went."""
    stays = set(range(len(similar))) - removed
    nearest = [max((jaccard for other, jaccard in similar[i].items() if other in stays), default=0) for i in removed]
    rightly = sum(jaccard >= threshold for jaccard in nearest)
    far = sum(jaccard < threshold - NEAR for jaccard in nearest)
    left = len(greedy(stays, similar, threshold))
    return (
        f"| {name} | {len(removed):,} | {share(rightly, len(removed))} | {far:,} | {left:,} "
        f"| {share(rightly, rightly + left)} | {rate} |"
    )


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def megabytes(texts: Iterable[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def tables(documents: list[Document]) -> Iterator[str]:
    """The lines of the tables, one by setting."""
    raw = [document.text for document in documents]
    normal = [" ".join(twins.words(text, "word")) for text in raw]
    similar = all_pairs(raw, min(setting.threshold for setting in SETTINGS) - NEAR)
    for setting in SETTINGS:
        threshold, bands, rows = setting
        right = greedy(range(len(raw)), similar, threshold)
        yield f"\n| {threshold}, {bands} × {rows} | removed | rightly | far off | left | found | MB/s |"
        yield "|---|---|---|---|---|---|---|"
        yield row("brute force", right, similar, threshold, "")
        outcomes = {name: zydaflow(documents, setting, way) for name, way in WAYS.items()}
        outcomes["datatrove"] = datatrove(normal, setting, UNCHANGED, Spaces())
        for name, (removed, seconds) in outcomes.items():
            yield row(name, removed, similar, threshold, f"{megabytes(raw) / seconds:.1f}")
        seconds = datatrove(raw[::SAMPLE], setting, TextNormConfig(), Languages.english).seconds
        yield f"| datatrove as it comes | | | | | | {megabytes(raw[::SAMPLE]) / seconds:.1f} |"
        short = sum(len(twins.words(raw[i], "word")) < SHINGLE for i in right)
        yield f"\n{short:,} that brute force removes have fewer than {SHINGLE} words, which datatrove does not compare"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    for folder in parser.parse_args().folders:
        documents = read(folder)
        size = megabytes(document.text for document in documents)
        datasets = len({document.dataset for document in documents})
        print(f"\n{folder.name}: {len(documents):,} documents of {datasets} datasets, {size:.1f} MB", flush=True)
        for line in tables(documents):
            print(line, flush=True)


if __name__ == "__main__":
    main()
