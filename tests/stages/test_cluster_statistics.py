"""Clusters counted by size and dataset."""

from typing import Any

import pyarrow as pa
import pytest

from zydaflow.dedup.evidence import CLUSTERS
from zydaflow.provenance.commits import Record, Store
from zydaflow.stages import cluster_statistics
from zydaflow.stages.cluster_statistics import ClusterStatistics
from zydaflow.stages.manifest import Manifest

NOTHING = Record("decide", "decide/0", "none")


@pytest.fixture(autouse=True)
def _without_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_statistics, "_samples", lambda *_: [])


def _clusters(*members: dict[str, int]) -> pa.Table:
    rows = [
        {
            "cluster": f"{'-'.join(of)}/{sum(of.values())}",
            "size": sum(of.values()),
            "members": [{"dataset": name, "documents": count} for name, count in of.items()],
            "kept": 1,
            "lowest_similarity": None,
            "median_similarity": None,
            "compare_limit_met": 0,
        }
        for of in members
    ]
    return pa.Table.from_pylist(rows, CLUSTERS)


def _counted(*partitions: pa.Table) -> dict[str, Any]:
    found = ClusterStatistics(["a", "b"])
    for table in partitions:
        found.add(NOTHING, table)
    return found.to_json(Store("nowhere"), Manifest(("a", "b"), ()))


def test_sizes_are_counted_by_powers_of_two() -> None:
    found = _counted(_clusters({"a": 2}, {"a": 3}, {"a": 4}), _clusters({"a": 7}, {"a": 2**20}))
    assert found["sizes"] == {"2": 2, "4": 2, str(2**20): 1}
    assert found["by_dataset"] == {"a": found["sizes"]}


def test_a_dataset_counts_by_its_own_documents() -> None:
    found = _counted(_clusters({"a": 1, "b": 8}, {"a": 5, "b": 5}, {"b": 2}))
    assert found["sizes"] == {"2": 1, "8": 2}
    assert found["by_dataset"] == {"a": {"1": 1, "4": 1}, "b": {"2": 1, "4": 1, "8": 1}}
    assert found["most"] == {"a": {"documents": 5, "cluster": "a-b/10"}, "b": {"documents": 8, "cluster": "a-b/9"}}


def test_of_equal_clusters_the_first_holds_most() -> None:
    found = _counted(_clusters({"a": 2, "b": 1}), _clusters({"a": 2}), _clusters({"a": 1, "b": 1}))
    assert found["most"] == {"a": {"documents": 2, "cluster": "a-b/3"}, "b": {"documents": 1, "cluster": "a-b/3"}}


def test_an_index_is_a_member_and_no_dataset() -> None:
    found = _counted(_clusters({"a": 1, "index": 70}, {"index": 1, "b": 1}))
    assert found["by_dataset"] == {"a": {"1": 1}, "b": {"1": 1}}
    assert found["most"] == {
        "a": {"documents": 1, "cluster": "a-index/71"},
        "b": {"documents": 1, "cluster": "index-b/2"},
    }
    assert found["sizes"] == {"2": 1, "64": 1}
    assert [of["size"] for of in found["largest"]] == [71, 2]


def test_no_clusters() -> None:
    nothing = {"sizes": {}, "by_dataset": {}, "most": {}, "largest": []}
    assert _counted(CLUSTERS.empty_table()) == nothing
