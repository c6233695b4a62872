"""Measures transform, signals and rules on one core against their obvious Python twins, in one run.

    python tests/benchmarks/signals.py [FOLDER]

FOLDER holds .jsonl[.gz|.zst] or .parquet files with a column text, content or raw_content; without it, text is made up.
"""

import random
import re
import string
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow import signals, transforms
from zydaflow.errors import InputError
from zydaflow.filters import judge, preset
from zydaflow.kernels.text import from_arrow
from zydaflow.signals import SIGNALS, Resources
from zydaflow.signals.word_list import read_list
from zydaflow.signals.zyda_matches import PATTERNS
from zydaflow.transforms.zyda import RUN_LENGTHS

COLUMNS = ("text", "content", "raw_content")
MADE_UP, MOST, TWIN = 50_000_000, 100_000_000, 2_000_000  # bytes: made up, read at most, and seen by the twins
ROUNDS = 3

PUNCTUATION = str.maketrans(
    "", "", string.punctuation + "".join(map(chr, [*range(0x2018, 0x2020), *range(0x2010, 0x2016)]))
)
MAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b")
NUMBER = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
QUAD = re.compile(rf"(?:{NUMBER}\.){{3}}{NUMBER}")


def made_up() -> list[str]:
    """Documents of words of Zipf's frequencies, 5 % of them not ASCII, in sentences and paragraphs."""
    choose = random.Random(1)
    words = ["".join(choose.choices(string.ascii_lowercase, k=choose.randint(1, 12))) for _ in range(20_000)]
    words = [word + choose.choice(["", "é", "ö", "’s"]) if choose.random() < 0.05 else word for word in words]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    texts, size = [], 0
    while size < MADE_UP:
        chosen = choose.choices(words, weights, k=choose.randint(100, 2000))
        texts.append("".join(word + choose.choice([" "] * 12 + [", ", ". ", ".\n\n"]) for word in chosen))
        size += len(texts[-1].encode())
    return texts


def read(folder: Path) -> list[str]:
    """Documents of the folder's files, in order, up to MOST bytes."""
    texts: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            names = pq.read_schema(path).names
            texts += pq.read_table(path)[next(name for name in COLUMNS if name in names)].to_pylist()
        elif ".jsonl" in path.suffixes:
            with fsspec.open(str(path), "rb", compression="infer") as file:
                rows = [orjson.loads(line) for line in file.read().split(b"\n") if line.strip()]
            texts += [next(row[name] for name in COLUMNS if name in row) for row in rows]
        if sum(map(len, texts)) > MOST:
            break
    return texts


def twin_transform(text: str) -> str:
    for character, length in RUN_LENGTHS.items():
        text = re.sub(f"{re.escape(character)}{{{length},}}", lambda run: run[0][0], text)
    return text


def twin_characters(text: str) -> None:
    pieces = re.split(r"[\s\-/\\.]", text)
    _ = sum(map(len, pieces)) / len(pieces)
    _ = len(re.findall(r"[^\w\s]", text)) + len(re.findall(r"\d", text)) + len(re.findall(r"(\w)\1{6,}", text))


def twin_words(text: str) -> None:
    _ = len(unicodedata.normalize("NFC", text).lower().translate(PUNCTUATION).split())


LITERALS = [*PATTERNS.values(), *(entry.literal for path in Resources().word_lists for entry in read_list(path))]


def twin_matches(text: str) -> None:
    _ = [text.count(literal) for literal in LITERALS]


def twin_pii(text: str) -> None:
    _ = len(MAIL.findall(text)) + len(QUAD.findall(text))


def seconds(work: Callable[[], object]) -> float:
    """The best of several rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class Bench:
    """The text, all of it for the kernels and its beginning for the twins."""

    def __init__(self, texts: list[str]) -> None:
        self.raw = pa.array(texts, pa.large_string())
        sizes = np.diff(from_arrow(self.raw).offsets)
        count = max(1, int(np.searchsorted(np.cumsum(sizes), TWIN)))
        self.size, self.sample, self.sample_size = int(sizes.sum()), texts[:count], int(sizes[:count].sum())

    def report(self, name: str, work: Callable[[], object], *twins: Callable[[str], object]) -> None:
        """Prints the rate of the work, and its ratio to that of the twins together."""
        rate = self.size / seconds(work) / 1e6
        line = f"{name:<44}{rate:>9.0f} MB/s"
        if twins:
            slow = seconds(lambda: [twin(text) for text in self.sample for twin in twins])
            line += f"{rate / (self.sample_size / slow / 1e6):>9.0f} × its twin"
        print(line)


def bench_zyda(bench: Bench) -> None:
    """Every part that needs no model."""
    names = [name for name in SIGNALS if not name.startswith("language")]
    start = time.perf_counter()
    transformed = transforms.apply(["zyda"], bench.raw)
    signals.measure(names, bench.raw[:1], transformed[:1], Resources())
    print(f"{len(bench.raw)} documents, {bench.size / 1e6:.0f} MB")
    print(f"ready (kernels compiled or loaded) after {time.perf_counter() - start:.1f} s\n")

    def measuring(*wanted: str) -> Callable[[], pa.RecordBatch]:
        chosen = [name for name in names if name.startswith(wanted)]
        return lambda: signals.measure(chosen, bench.raw, transformed, Resources())

    characters = measuring("zyda.mean", "zyda.fraction", "zyda.transformed", "zyda.substrings")
    bench.report("transform zyda", lambda: transforms.apply(["zyda"], bench.raw), twin_transform)
    bench.report("zyda: characters, runs, lengths", characters, twin_characters)
    bench.report("n_words", measuring("n_words"), twin_words)
    bench.report(f"zyda: {len(LITERALS)} patterns and entries", measuring("zyda.pattern", "zyda.word"), twin_matches)
    bench.report("zyda: pii", measuring("zyda.pii"), twin_pii)
    everything = (twin_characters, twin_words, twin_matches, twin_pii)
    bench.report("all of zyda's signals and n_words", measuring(""), *everything)
    table = measuring("")()
    bench.report("zyda's rules", lambda: judge(table, preset("zyda").rules))


def bench_language(bench: Bench) -> None:
    """The language of the first 4,096 bytes of each document, if the packaged model is there."""
    names, resources = ["language", "language_score"], Resources(language_model="lid.176")
    try:
        signals.fingerprint(names, resources)
    except InputError as error:
        print(error)
        return
    bench.report("language", lambda: signals.measure(names, bench.raw, bench.raw, resources))


def main() -> None:
    bench = Bench(read(Path(sys.argv[1])) if len(sys.argv) > 1 else made_up())
    bench_zyda(bench)
    bench_language(bench)


if __name__ == "__main__":
    main()
