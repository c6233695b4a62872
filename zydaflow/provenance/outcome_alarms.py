"""What is suspicious about what became of the datasets' documents, and about the duplicates among them."""

from collections.abc import Iterator
from typing import Any

from zydaflow.provenance.figures import compared, duplicates
from zydaflow.recipe import AlarmSpec

LEAST_CLUSTER = 100  # documents: in a small dataset a few copies are a large share already
EVERY = "all datasets"

Json = dict[str, Any]


def outcome_alarms(statistics: Json, limits: AlarmSpec) -> list[Json]:
    """Alarms {"dataset", "rule", "kind", "message"} about losses, clusters and buckets beyond the recipe's limits.

    Kinds: `loses_much`, where rules take more than a share of a dataset's documents that have a text, or deduplication
    of those that the rules leave; `large_cluster`, where one cluster holds more than a share of the latter, and at
    least `LEAST_CLUSTER`; `large_bucket`, where more than a number of documents share a band.
    """
    alarms = [alarm for name, dataset in statistics["datasets"].items() for alarm in _losses(name, dataset, limits)]
    for name, most in statistics["clusters"]["most"].items():
        held, left = most["documents"], compared(statistics["datasets"][name])
        if held > limits.cluster_share * left and held >= LEAST_CLUSTER:
            message = (
                f"the cluster {most['cluster']} holds {held:,} of {left:,} documents, {_more(limits.cluster_share)}"
            )
            alarms.append({"dataset": name, "rule": "dedup", "kind": "large_cluster", "message": message})
    bucket = statistics["clusters"]["largest_bucket"]
    if bucket > limits.bucket:
        message = (
            f"{bucket:,} documents share one band, more than {limits.bucket:,}: they may have a template in common"
        )
        alarms.append({"dataset": EVERY, "rule": "dedup", "kind": "large_bucket", "message": message})
    return alarms


def _losses(name: str, dataset: Json, limits: AlarmSpec) -> Iterator[Json]:
    filtered, left = dataset["outcomes"]["filtered"]["documents"], compared(dataset)
    cases = (
        ("filters", filtered, filtered + left, "documents to its rules"),
        ("dedup", duplicates(dataset["outcomes"]), left, "documents as duplicates"),
    )
    for rule, lost, of, what in cases:
        if lost > limits.loses * of:
            message = f"loses {lost:,} of {of:,} {what}, {_more(limits.loses)}"
            yield {"dataset": name, "rule": rule, "kind": "loses_much", "message": message}


def _more(share: float) -> str:
    return f"more than {100 * share:g} %"
