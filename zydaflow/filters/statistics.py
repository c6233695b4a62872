"""What the rules did to the documents of one dataset, as integers that are added in any order with the same result."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from zydaflow.filters.rules import AnyRule
from zydaflow.signals import SIGNALS

SAMPLES = 5  # documents kept as examples per rule: those of the smallest place hash, whatever the order of work
COUNTS = ("seen", "broken_at_all", "broken_first", "broken_alone")

BY_LABEL = ("languages", "all", "kept")  # where keys are labels, they are sorted: the result is the same to the byte

Json = dict[str, Any]


class RuleStatistics:
    """Collects, batch by batch; `to_json` gives

        {"rules": {RULE: {"rule": Rule.to_json(), COUNT: {"documents": n, "bytes": n}, …,
                          "languages": {LABEL: {"seen": n, "broken": n}}, "samples": [SAMPLE, …]}},
         "signals": {SIGNAL: {"all": H, "kept": H, "null": {"all": n, "kept": n}}}}

    where COUNT is one of `COUNTS`. A rule has seen the documents to which it applies: those that have the value. It was
    broken first where no rule before it was broken, and alone where no other was. H is the list of counts over the
    signal's bins (one more than its edges), or {LABEL: n}; "kept" are the documents that break no rule. Signals that
    are texts are not counted.
    """

    def __init__(self, rules: Sequence[AnyRule], signals: Sequence[str]) -> None:
        self._rules = rules
        self._signals = [name for name in signals if SIGNALS[name].kind != "text"]
        nothing = np.zeros((len(rules), len(COUNTS)), np.int64)
        self._documents, self._bytes = nothing, nothing.copy()
        self._languages: list[Json] = [{} for _ in rules]
        self._samples: list[list[Json]] = [[] for _ in rules]
        self._histograms: Json = {}

    def add(self, table: pa.RecordBatch, broken: np.ndarray, judged: np.ndarray, file: str) -> None:
        """Adds documents of one file.

        `table` has the columns position, bytes, id, excerpt, and those of the rules and signals; `broken` is
        bool[n, rules], as of `judge`; `judged` is bool[n]: the documents that count, the others had no text.
        """
        table, broken = table.filter(pa.array(judged)), broken[judged]
        applies = np.column_stack([rule.applies(table) for rule in self._rules] or [np.empty((len(broken), 0), bool)])
        alone = broken & (broken.sum(axis=1) == 1)[:, None]
        first = broken & (broken.cumsum(axis=1) == 1)
        sizes = table["bytes"].to_numpy()
        for count, cases in enumerate((applies, broken, first, alone)):
            self._documents[:, count] += cases.sum(axis=0)
            self._bytes[:, count] += sizes @ cases
        kept = broken.sum(axis=1) == 0
        for name in self._signals:
            seen = {name: _distribution(name, table[name], kept)}
            self._histograms = merge(self._histograms, seen)
        if "language" in self._signals:
            self._count_languages(table["language"], applies, broken)
        self._take_samples(table, broken, file)

    def _count_languages(self, labels: pa.Array, applies: np.ndarray, broken: np.ndarray) -> None:
        for rule, languages in enumerate(self._languages):
            for case, mask in (("seen", applies[:, rule]), ("broken", broken[:, rule])):
                for label, count in _label_counts(labels.filter(pa.array(mask))).items():
                    languages.setdefault(label, {"seen": 0, "broken": 0})[case] += count

    def _take_samples(self, table: pa.RecordBatch, broken: np.ndarray, file: str) -> None:
        hashes = _place_hashes(file, table["position"].to_numpy())
        for number, rule in enumerate(self._rules):
            rows = np.flatnonzero(broken[:, number])
            rows = rows[np.argsort(hashes[rows], kind="stable")[:SAMPLES]]
            columns = table.select(["position", "id", "excerpt"]).take(pa.array(rows)).to_pylist()
            values = rule.values(table.take(pa.array(rows)))
            samples = [
                {"place_hash": f"{hashes[row]:016x}", "file": file, **columns[at], "value": values[at]}
                for at, row in enumerate(rows)
            ]
            self._samples[number] = _smallest(self._samples[number] + samples)

    def to_json(self) -> Json:
        """Everything so far, as strict JSON."""
        rules = {}
        for number, rule in enumerate(self._rules):
            counts = zip(COUNTS, self._documents[number].tolist(), self._bytes[number].tolist(), strict=True)
            rules[rule.name] = {
                "rule": rule.to_json(),
                **{name: {"documents": documents, "bytes": size} for name, documents, size in counts},
                "languages": dict(sorted(self._languages[number].items())),
                "samples": self._samples[number],
            }
        return {"rules": rules, "signals": self._histograms}


def merge(one: Json, other: Json) -> Json:
    """The statistics of two sets of documents together; commutative and associative.

    Counts are added, key by key and bin by bin; of the samples the smallest stay. What both must have in common (a
    rule's bound) is taken as it is.
    """
    merged = dict(one)
    for key, value in other.items():
        merged[key] = _merged(key, one[key], value) if key in one else value
    return merged


def _merged(key: str, one: Any, other: Any) -> Any:
    if key == "rule":
        return one
    if key == "samples":
        return _smallest(one + other)
    if isinstance(one, dict):
        together = merge(one, other)
        return dict(sorted(together.items())) if key in BY_LABEL else together
    if isinstance(one, list):
        return [a + b for a, b in zip(one, other, strict=True)]
    return one + other


def _smallest(samples: list[Json]) -> list[Json]:
    return sorted(samples, key=lambda sample: (sample["place_hash"], sample["file"], sample["position"]))[:SAMPLES]


def _distribution(name: str, column: pa.Array, kept: np.ndarray) -> Json:
    counted, both = SIGNALS[name], {"all": column, "kept": column.filter(pa.array(kept))}
    counts = _label_counts if counted.kind == "label" else lambda values: _histogram(values, counted.bins)
    return {case: counts(values) for case, values in both.items()} | {
        "null": {case: values.null_count for case, values in both.items()}
    }


def _histogram(column: pa.Array, bins: np.ndarray) -> list[int]:
    places = np.searchsorted(bins, column.drop_null().to_numpy(), side="right")
    return np.bincount(places, minlength=len(bins) + 1).tolist()


def _label_counts(column: pa.Array) -> dict[str, int]:
    counts = pc.value_counts(column.drop_null()).to_pylist()
    return {case["values"]: case["counts"] for case in sorted(counts, key=lambda case: case["values"])}


def _place_hashes(file: str, positions: np.ndarray) -> np.ndarray:
    """A hash of each place in the file: uint64[n], by the finalizer of SplitMix64 (Steele et al., 2014)."""
    z = positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(xxhash.xxh3_64_intdigest(file.encode()))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
