"""Statistics of a run: integers out of commit records, which add up to the same in whatever order."""

from collections.abc import Iterable
from typing import Any

from zydaflow.errors import RunError
from zydaflow.filters.statistics import merge
from zydaflow.provenance.commits import Record
from zydaflow.provenance.outcomes import DUPLICATES, OUTCOMES

SCHEMA_VERSION = 2

Json = dict[str, Any]


def collect(records: Iterable[Record], datasets: list[str]) -> Json:
    """Everything that is counted, per dataset and in all:

        {"datasets": {NAME: {"rank": n, "read": N, "outcomes": {OUTCOME: N}, "sampled_out": n, "repaired": n,
                             "wordless": n, "unreadable_file_bytes": n, "unprocessed": n, "rules": …, "signals": …}},
         "total": {"read": N, "outcomes": {OUTCOME: N}},
         "losses": {LOSER: {KEEPER: N}}, "matches": {NAME: {OTHER: N}},
         "clusters": {"count": n, "sizes": {SIZE: n}, "by_dataset": {NAME: {SIZE: n}}, "most": {NAME: …},
                      "largest": […], "compare_limit_met": n, "largest_bucket": n}}

    N is {"documents": n, "bytes": n, "tokens": n}. Bytes are those of the text as loaded, so a record without a
    readable text has none. `unprocessed` are those of the unreadable whose text could be read, but not processed.
    Tokens are counted where a document was kept; elsewhere they are an estimate, and stand under "tokens_estimated".
    `pending` documents are kept, and the run did not come to them yet. `matches` are the documents of a dataset that
    are similar to some document of another, or of itself, whichever stays. The parts of `clusters` are told in
    `stages.cluster_statistics`.
    """
    sums = {name: _Sums() for name in datasets}
    found: Json = {"losses": {}, "matches": {}}
    clusters: Json = {"count": 0, "sizes": {}, "by_dataset": {}, "most": {}, "largest": []}
    clusters |= {"compare_limit_met": 0, "largest_bucket": 0}
    for record in records:
        if record.stage == "evidence":
            found = {key: record.statistics[key] for key in found}
            clusters |= {"count": record.counts["clusters"], **record.statistics["clusters"]}
        elif record.stage == "decide":
            clusters["compare_limit_met"] += record.counts["compare_limit_met"]
        elif record.stage == "match":
            clusters["largest_bucket"] = max(clusters["largest_bucket"], record.facts.get("largest_bucket", 0))
        elif "dataset" in record.facts:
            sums[record.facts["dataset"]].add(record)
    of = {name: {"rank": k, **sums[name].result(found["losses"].get(name, {}))} for k, name in enumerate(datasets)}
    written = _total(of)["outcomes"]["written"]
    for dataset in of.values():
        _estimate_tokens(dataset["outcomes"], dataset["outcomes"]["written"], written)
    losses = {loser: {to: _sum(lost.values()) for to, lost in by.items()} for loser, by in found["losses"].items()}
    return {
        "schema": SCHEMA_VERSION,
        "datasets": of,
        "total": _total(of),
        **found,
        "losses": losses,
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

    def result(self, losses: dict[str, dict[str, Json]]) -> Json:
        """The dataset's entry in the statistics; `losses` are counts by dataset of the kept copy and outcome."""
        outcomes = {
            "unreadable": _count(self._sum("measure", "unreadable"), 0),
            "null": _count(self._sum("measure", "null"), 0),
            "empty": _count(self._sum("measure", "empty"), self._sum("measure", "empty_bytes")),
            "filtered": _count(self._sum("judge", "filtered"), self._sum("judge", "filtered_bytes")),
            **{outcome: _sum(to[outcome] for to in losses.values() if outcome in to) for outcome in DUPLICATES},
            "written": _count(self._sum("tokenize", "documents"), self._sum("tokenize", "bytes")),
        }
        done = [outcomes[outcome] for outcome in (*DUPLICATES, "written")]
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
            "unprocessed": self._sum("measure", "unprocessed"),
            "wordless": self._sum("sketch", "wordless"),
            **self._statistics,
        }

    def _sum(self, stage: str, count: str) -> int:
        return self._counts.get(stage, {}).get(count, 0)


def _count(documents: int, size: int) -> dict[str, int]:
    return {"documents": documents, "bytes": size}


def _sum(counts: Iterable[Json]) -> Json:
    total: Json = _count(0, 0)
    for count in counts:
        total = merge(total, count)
    return total


def _estimate_tokens(outcomes: dict[str, dict[str, int]], own: dict[str, int], all_: dict[str, int]) -> None:
    """Tokens of what was not tokenized, by its bytes, rounded down: at the rate of the dataset, or else of all."""
    known = own if own["tokens"] else all_
    for count in outcomes.values():
        if "tokens" not in count and count["bytes"] and known["tokens"]:
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
