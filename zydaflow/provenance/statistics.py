"""Statistics of a run: integers out of commit records, which add up to the same in whatever order."""

from collections.abc import Iterable
from typing import Any

from zydaflow.errors import RunError
from zydaflow.filters.statistics import merge
from zydaflow.provenance.commits import Record
from zydaflow.provenance.outcomes import OUTCOMES

SCHEMA_VERSION = 1

Json = dict[str, Any]


def collect(records: Iterable[Record], datasets: list[str]) -> Json:
    """Everything that is counted, per dataset and in all:

        {"datasets": {NAME: {"rank": n, "read": N, "outcomes": {OUTCOME: N}, "sampled_out": n, "repaired": n,
                             "wordless": n, "unreadable_file_bytes": n, "rules": …, "signals": …}},
         "total": {"read": N, "outcomes": {OUTCOME: N}},
         "losses": {LOSER: {KEEPER: {"documents": n, "bytes": n}}}, "clusters": {"count": n, "sizes": {SIZE: n}}}

    N is {"documents": n, "bytes": n, "tokens": n}. Bytes are those of the text as loaded, so a record without a
    readable text has none. Tokens are counted where text was tokenized; elsewhere they are an estimate, and stand under
    "tokens_estimated". `pending` documents are kept, and the run did not come to them yet.
    """
    sums = {name: _Sums() for name in datasets}
    losses: Json = {}
    clusters: Json = {"count": 0, "sizes": {}, "compare_limit_met": 0}
    for record in records:
        if record.stage == "evidence":
            losses = record.statistics["losses"]
            clusters["count"] = record.counts["clusters"]
            clusters["sizes"] = record.statistics["cluster_sizes"]
        elif record.stage == "decide":
            clusters["compare_limit_met"] += record.counts["compare_limit_met"]
        elif "dataset" in record.facts:
            sums[record.facts["dataset"]].add(record)
    found = {name: {"rank": k, **sums[name].result(losses.get(name, {}), name)} for k, name in enumerate(datasets)}
    written = _total(found)["outcomes"]["written"]
    for dataset in found.values():
        _estimate_tokens(dataset["outcomes"], dataset["outcomes"]["written"], written)
    return {
        "schema": SCHEMA_VERSION,
        "datasets": found,
        "total": _total(found),
        "losses": {a: {b: {"documents": n, "bytes": size} for b, (n, size) in to.items()} for a, to in losses.items()},
        "clusters": clusters,
    }


class _Sums:
    """One dataset's records, added up."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {}
        self._statistics: Json = {"rules": {}, "signals": {}}

    def add(self, record: Record) -> None:
        counts = self._counts.setdefault(record.stage, {})
        for name, value in record.counts.items():
            counts[name] = counts.get(name, 0) + value
        if record.stage == "judge":
            self._statistics = merge(self._statistics, record.statistics)

    def result(self, losses: dict[str, list[int]], name: str) -> Json:
        """The dataset's entry in the statistics; `losses` are documents and bytes by dataset of the kept copy."""
        within = losses.get(name, [0, 0])
        across = [sum(pair[k] for to, pair in losses.items() if to != name) for k in (0, 1)]
        outcomes = {
            "unreadable": _count(self._sum("measure", "unreadable"), 0),
            "null": _count(self._sum("measure", "null"), 0),
            "empty": _count(self._sum("measure", "empty"), self._sum("measure", "empty_bytes")),
            "filtered": _count(self._sum("judge", "filtered"), self._sum("judge", "filtered_bytes")),
            "removed_within": _count(*within),
            "removed_across": _count(*across),
            "written": _count(self._sum("tokenize", "documents"), self._sum("tokenize", "bytes")),
        }
        done = [outcomes[outcome] for outcome in ("removed_within", "removed_across", "written")]
        outcomes["pending"] = _count(
            self._sum("judge", "kept") - sum(count["documents"] for count in done),
            self._sum("judge", "kept_bytes") - sum(count["bytes"] for count in done),
        )
        outcomes["written"]["tokens"] = self._sum("tokenize", "tokens")
        return {
            "read": _count(self._sum("measure", "read"), self._sum("measure", "read_bytes")),
            "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES},
            "sampled_out": self._sum("measure", "sampled_out"),
            "repaired": self._sum("measure", "repaired"),
            "unreadable_file_bytes": self._sum("measure", "unreadable_bytes"),
            "wordless": self._sum("sketch", "wordless"),
            **self._statistics,
        }

    def _sum(self, stage: str, count: str) -> int:
        return self._counts.get(stage, {}).get(count, 0)


def _count(documents: int, size: int) -> dict[str, int]:
    return {"documents": documents, "bytes": size}


def _estimate_tokens(outcomes: dict[str, dict[str, int]], own: dict[str, int], all_: dict[str, int]) -> None:
    """Tokens of what was not written, by its bytes, rounded down: at the rate of the dataset, or else of all."""
    known = own if own["tokens"] else all_
    for outcome, count in outcomes.items():
        if outcome != "written" and known["tokens"]:
            count["tokens_estimated"] = count["bytes"] * known["tokens"] // known["bytes"]


def _total(datasets: dict[str, Json]) -> Json:
    total: Json = {"read": _count(0, 0), "outcomes": {outcome: _count(0, 0) for outcome in OUTCOMES}}
    for dataset in datasets.values():
        total = merge(total, {"read": dataset["read"], "outcomes": dataset["outcomes"]})
    return total


def check_sums(statistics: Json, finished: bool) -> None:
    """Raises RunError if a document or a byte that was read has no outcome, or has two."""
    for name, dataset in statistics["datasets"].items():
        for unit in ("documents", "bytes"):
            read = dataset["read"][unit]
            told = {outcome: count[unit] for outcome, count in dataset["outcomes"].items()}
            if read != sum(told.values()) or min(told.values()) < 0 or (finished and told["pending"]):
                parts = ", ".join(f"{value:,} {outcome}" for outcome, value in told.items())
                raise RunError(
                    f"{name}: {read:,} {unit} were read, but the outcomes are {parts}; "
                    "this is a fault of zydaflow, please report it"
                )
