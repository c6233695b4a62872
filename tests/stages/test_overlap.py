"""Counts by names along axes."""

import numpy as np

from zydaflow.stages.overlap import Overlap


def test_counts_add_up_by_name_and_empty_cells_are_left_out() -> None:
    overlap = Overlap(["a", "b"], ["a", "b", "index"])
    overlap.add((np.array([0, 0, 1]), np.array([1, 1, 2])), {"bytes": np.array([5, 7, 1])})
    overlap.add((np.array([0]), np.array([1])), {"bytes": np.array([100])})
    assert overlap.to_json() == {
        "a": {"b": {"documents": 3, "bytes": 112}},
        "b": {"index": {"documents": 1, "bytes": 1}},
    }


def test_no_documents_at_all() -> None:
    overlap = Overlap(["a"], ["a"], ["x", "y"])
    assert overlap.to_json() == {}
    nothing = np.empty(0, np.int64)
    overlap.add((nothing, nothing, nothing), {"bytes": nothing})
    assert overlap.to_json() == {}


def test_sums_are_exact() -> None:
    overlap = Overlap(["a"])
    for _ in range(3):
        overlap.add((np.zeros(1, np.int64),), {"bytes": np.array([2**53 - 1])})
    assert overlap.to_json() == {"a": {"documents": 3, "bytes": 3 * (2**53 - 1)}}
