"""Measures transform, signals and rules on one core against their obvious Python twins and datatrove, in one run.

    python tests/benchmarks/signals.py [FOLDER]

FOLDER holds .jsonl[.gz|.zst] or .parquet files with a column text, content or raw_content; without it, text is made up.
The twins and datatrove (where it is installed: pip install -e '.[peers]') get every so manieth document. datatrove's
filters stop at the first rule that a document breaks; here all signals are measured.
"""

import random
import re
import string
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

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
BATCH = 8_000_000  # bytes that are measured together, as in a run
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


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The best of several rounds, of the processor, so that others on the machine count less."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


class Bench:
    """The text, all of it in batches for the kernels, and some of it for who is slow."""

    def __init__(self, texts: list[str]) -> None:
        raw = pa.array(texts, pa.large_string())
        offsets = from_arrow(raw).offsets
        cuts = [0, *np.flatnonzero(np.diff(offsets // BATCH)), len(raw)]
        self.raw = [raw[start:stop] for start, stop in pairwise(cuts) if start < stop]
        self.text = [transforms.apply(["zyda"], batch) for batch in self.raw]
        self.documents, self.size = len(raw), int(offsets[-1])
        self.sample = texts[:: max(1, self.size // TWIN)]
        self.sample_size = sum(len(text.encode()) for text in self.sample)

    def measure(self, names: Sequence[str], resources: Resources | None = None) -> Callable[[], object]:
        """What measures these signals of all documents."""
        resources = resources or Resources()
        pairs = list(zip(self.raw, self.text, strict=True))
        return lambda: [signals.measure(names, raw, text, resources) for raw, text in pairs]

    def report(self, name: str, work: Callable[[], object], *slow: Callable[[str], object]) -> None:
        """Prints the rate of the work, and its ratio to that of the slow ways together."""
        took = seconds(work)
        line = f"{name:<44}{self.size / took / 1e6:>7.0f} MB/s{self.documents / took:>11,.0f} documents/s"
        if slow:
            other = self.sample_size / seconds(lambda: [way(text) for text in self.sample for way in slow], 1) / 1e6
            line += f"{self.size / took / 1e6 / other:>7.0f} × {other:.2f} MB/s"
        print(line, flush=True)


def bench_zyda(bench: Bench) -> None:
    """Zyda's transform, signals and rules against their twins."""

    def measuring(*wanted: str) -> Callable[[], object]:
        return bench.measure([name for name in SIGNALS if name.startswith(wanted)])

    characters = measuring("zyda.mean", "zyda.fraction", "zyda.transformed", "zyda.substrings")
    bench.report("transform zyda", lambda: [transforms.apply(["zyda"], raw) for raw in bench.raw], twin_transform)
    bench.report("zyda: characters, runs, lengths", characters, twin_characters)
    bench.report("n_words", measuring("n_words"), twin_words)
    bench.report(f"zyda: {len(LITERALS)} patterns and entries", measuring("zyda.pattern", "zyda.word"), twin_matches)
    bench.report("zyda: pii", measuring("zyda.pii"), twin_pii)
    everything = (twin_characters, twin_words, twin_matches, twin_pii)
    bench.report("all of zyda's signals and n_words", measuring("zyda.", "n_words"), *everything)
    names = signals_of("zyda")
    tables = [signals.measure(names, raw, raw, Resources()) for raw in bench.raw]
    bench.report("zyda's rules", lambda: [judge(table, preset("zyda").rules) for table in tables])


def signals_of(*sets: str) -> list[str]:
    """The signals that the rules of these sets need."""
    return list(dict.fromkeys(name for name in sets for rule in preset(name).rules for name in rule.columns))


def bench_sets(bench: Bench) -> None:
    """The signals of rule sets, against datatrove's filters of the same names."""
    filters = datatrove_filters()
    for sets in (("gopher",), ("c4",), ("fineweb",), ("gopher", "c4", "fineweb")):
        slow = [filters[name] for name in sets if name in filters]
        bench.report("signals of " + " + ".join(sets), bench.measure(signals_of(*sets)), *slow)
    bench.report("signals of dolma", bench.measure(signals_of("dolma")))
    for words in ("unicode", "script"):
        names = [name if (other := f"{name}.{words}") not in SIGNALS else other for name in signals_of("gopher")]
        bench.report(f"signals of gopher, words by {words}", bench.measure(names))


def datatrove_filters() -> dict[str, Callable[[str], object]]:
    """What datatrove's filters do with a text, by rule set, its words by spaCy; nothing where it is not installed."""
    try:
        from datatrove.data import Document
        from datatrove.pipeline import filters
    except ImportError as error:
        print(f"without datatrove: {error}")
        return {}
    steps = {
        "gopher": (filters.GopherQualityFilter(), filters.GopherRepetitionFilter()),
        "c4": (filters.C4QualityFilter(),),
        "fineweb": (filters.FineWebQualityFilter(),),
    }
    return {name: partial(_filter_all, each, Document) for name, each in steps.items()}


def _filter_all(steps: Sequence[Any], document: Callable[[str, str], object], text: str) -> None:
    for step in steps:
        step.filter(document(text, ""))


def bench_language(bench: Bench) -> None:
    """The language of the first 4,096 bytes of each document, if the packaged model is there."""
    names, resources = ["language", "language_score"], Resources(language_model="lid.176")
    try:
        signals.fingerprint(names, resources)
    except InputError as error:
        print(error)
        return
    bench.report("language, 4 KB of each document", bench.measure(names, resources))


def main() -> None:
    bench = Bench(read(Path(sys.argv[1])) if len(sys.argv) > 1 else made_up())
    print(f"{bench.documents} documents, {bench.size / 1e6:.0f} MB")
    start = time.perf_counter()
    signals.measure(
        [name for name in SIGNALS if not name.startswith("language")], bench.raw[0][:1], bench.text[0][:1], Resources()
    )
    print(f"kernels compiled or loaded in {time.perf_counter() - start:.1f} s\n")
    bench_zyda(bench)
    bench_sets(bench)
    bench_language(bench)


if __name__ == "__main__":
    main()
