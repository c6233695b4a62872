"""Candidates: forests of one key range, and the clusters of all."""

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.clusters import components, partition
from zydaflow.dedup.match import forest
from zydaflow.dedup.shingles import shingle_hash

N = 12
BOUNDARIES = np.array([0, 4, 4, 9])  # four datasets, the second empty
HELD = st.sets(st.tuples(st.integers(0, 5), st.integers(0, N - 1)), max_size=30)


def dataset(doc: int) -> int:
    return int(np.searchsorted(BOUNDARIES, doc, side="right"))


def pairs(held: set[tuple[int, int]], link: str) -> list[tuple[int, int]]:
    """All pairs of documents that share a key and that the link is about."""
    return [
        (a, b)
        for key, a in held
        for other, b in held
        if key == other and a < b and (link == "all" or (dataset(a) == dataset(b)) == (link == "within"))
    ]


def arrays(held: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    keys = np.array([shingle_hash(bytes([key])) for key, _ in held], np.uint64)
    return keys, np.array([doc for _, doc in held], np.uint32)


def as_lists(clusters) -> list[list[int]]:
    return [clusters.members[a:b].tolist() for a, b in zip(clusters.offsets, clusters.offsets[1:], strict=False)]


@settings(derandomize=True, max_examples=300, deadline=None)
@given(HELD, st.sampled_from(["within", "across", "all"]), st.randoms(use_true_random=False))
def test_a_forest_connects_what_shares_keys(held: set[tuple[int, int]], link: str, random) -> None:
    edges = forest(*arrays(sorted(held)), link, BOUNDARIES)
    expected = twins.components(pairs(held, link), N)
    assert twins.components(edges.tolist(), N) == expected
    assert len(edges) == sum(len(cluster) - 1 for cluster in expected)
    assert (edges[:, 0] < edges[:, 1]).all()
    shuffled = sorted(held)
    random.shuffle(shuffled)
    assert forest(*arrays(shuffled), link, BOUNDARIES).tolist() == edges.tolist()


def test_a_forest_of_many_pieces() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 2**64, 50_000, dtype=np.uint64)[rng.integers(0, 50_000, 100_000)]
    docs = rng.permutation(100_000).astype(np.uint32)
    edges = forest(keys, docs, "all", np.zeros(1))
    assert len(edges) == 100_000 - len(np.unique(keys))
    key_of = np.empty(100_000, np.uint64)
    key_of[docs] = keys
    assert (key_of[edges[:, 0]] == key_of[edges[:, 1]]).all()
    assert len(np.unique(edges[:, 1])) == len(edges)  # every document hangs on one lower one at most: no circle


@pytest.mark.parametrize("link", ["within", "across", "all"])
def test_no_keys_no_edges(link: str) -> None:
    assert forest(np.empty(0, np.uint64), np.empty(0, np.uint32), link, np.zeros(1)).shape == (0, 2)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20), st.integers(1, 3))
def test_components(edges: list[tuple[int, int]], chunks: int) -> None:
    pieces = np.array_split(np.array(edges, np.uint32).reshape(-1, 2), chunks)
    found = components(pieces, N)
    assert as_lists(found) == twins.components(edges, N)
    assert as_lists(components(reversed(pieces), N)) == as_lists(found)


def test_components_of_nothing() -> None:
    assert components([], 5).offsets.tolist() == [0]
    assert components([], 0).offsets.tolist() == [0]
    with pytest.raises(ValueError, match="32 bits"):
        components([], 2**32 - 1)


def test_partitions_are_whole_clusters() -> None:
    edges = [(0, 1), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8), (9, 10), (10, 11)]
    clusters = components([np.array(edges, np.uint32)], 12)  # of 2, 5, 2 and 3
    assert partition(clusters, 4) == [range(1), range(1, 2), range(2, 3), range(3, 4)]
    assert partition(clusters, 5) == [range(1), range(1, 2), range(2, 4)]
    assert partition(clusters, 100) == [range(4)]
    assert partition(components([], 3), 5) == []
    assert as_lists(clusters.part(range(1, 3))) == [[2, 3, 4, 5, 6], [7, 8]]
