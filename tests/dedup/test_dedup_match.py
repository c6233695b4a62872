"""Candidates: forests of one key range, and the clusters of all."""

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.bands import ROW_BITS
from zydaflow.dedup.clusters import components, runs
from zydaflow.dedup.match import BYTES_PER_KEY, Block, Edges, forest
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


def pack(keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Keys of range 0, as a KeyTable has them."""
    low = np.uint64(ROW_BITS)
    return keys >> low << low | rows


def matched(keys: np.ndarray, docs: np.ndarray, link: str, boundaries: np.ndarray, memory: int) -> list[Edges]:
    """What the steps find in the keys of range 0, from shards of 5 documents."""
    blocks = []
    for first in range(0, int(docs.max(initial=0)) + 1, 5):
        here = (docs >= first) & (docs < first + 5)
        packed = pack(keys[here], docs[here] - np.uint32(first))
        packed.flags.writeable = False  # as what is mapped
        blocks.append(Block(packed, first))
    return list(forest(blocks, link, boundaries, memory, np.empty))


def as_set(steps: list[Edges]) -> set[tuple[int, int]]:
    return {(a, b) for step in steps for a, b in step.documents.tolist()}


@settings(derandomize=True, max_examples=300, deadline=None)
@given(HELD, st.sampled_from(["within", "across", "all"]), st.sampled_from([0, 2 * BYTES_PER_KEY, 10**6]))
def test_edges_connect_what_shares_keys(held: set[tuple[int, int]], link: str, memory: int) -> None:
    keys, docs = arrays(sorted(held))
    expected = twins.components(pairs(held, link), N)
    steps = matched(keys, docs, link, BOUNDARIES, memory)
    edges = sorted(as_set(steps))
    assert twins.components(edges, N) == expected
    assert all(a < b for a, b in edges)
    assert set(edges) == as_set(matched(keys[::-1], docs[::-1], link, BOUNDARIES, memory))
    buckets = [(key, dataset(doc)) if link == "within" else key for key, doc in held]
    assert max(step.largest for step in steps) == max((buckets.count(b) for b in buckets), default=0)


def test_less_memory_means_more_steps() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 2**64, 30_000, dtype=np.uint64)[rng.integers(0, 30_000, 60_000)]
    docs = rng.permutation(60_000).astype(np.uint32)
    blocks = [Block(pack(keys, docs), 0)]
    (whole,) = forest(blocks, "all", np.zeros(1), 60_000 * BYTES_PER_KEY, np.empty)
    assert len(whole.documents) == 60_000 - len(np.unique(keys))
    key_of = np.empty(60_000, np.uint64)
    key_of[docs] = keys
    assert (key_of[whole.documents[:, 0]] == key_of[whole.documents[:, 1]]).all()
    assert len(np.unique(whole.documents[:, 1])) == len(
        whole.documents
    )  # every document hangs on one lower one: no circle

    asked = []

    def empty(shape: int | tuple[int, int], dtype: type) -> np.ndarray:
        array = np.empty(shape, dtype)
        asked.append(array.nbytes)
        return array

    steps = list(forest(blocks, "all", np.zeros(1), 20_000 * BYTES_PER_KEY, empty))
    assert len(steps) > 2
    assert as_set(steps) == as_set([whole])
    assert max(step.largest for step in steps) == whole.largest
    assert max(asked) <= 20_000 * 8


@pytest.mark.parametrize("link", ["within", "across", "all"])
def test_no_keys_no_edges(link: str) -> None:
    keys, docs = np.empty(0, np.uint64), np.empty(0, np.uint32)
    (step,) = matched(keys, docs, link, np.zeros(1), 0)
    assert (step.documents.shape, step.largest) == ((0, 2), 0)


def test_a_bucket_of_everything() -> None:
    docs = np.arange(200_000, dtype=np.uint32)
    blocks = [Block(pack(np.full(200_000, 2**60 + 7, np.uint64), docs), 0)]
    steps = list(forest(blocks, "all", np.zeros(1), 10**6, np.empty))
    assert max(step.largest for step in steps) == 200_000
    assert as_set(steps) == {(0, doc) for doc in range(1, 200_000)}


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20), st.integers(1, 3))
def test_components(edges: list[tuple[int, int]], chunks: int) -> None:
    pieces = np.array_split(np.array(edges, np.uint32).reshape(-1, 2), chunks)
    found = components(pieces, N)
    assert as_lists(found) == twins.components(edges, N)
    assert as_lists(components(reversed(pieces), N)) == as_lists(found)


def test_a_chain_in_any_order_is_one_component_of_stated_memory() -> None:
    n, asked = 300_000, []

    def empty(shape: int, dtype: type) -> np.ndarray:
        asked.append(np.dtype(dtype).itemsize * shape)
        return np.empty(shape, dtype)

    places = np.random.default_rng(5).permutation(n).astype(np.uint32)
    links = np.column_stack([places[:-1], places[1:]])
    links.sort(axis=1)
    found = components(np.array_split(links, 7), n, empty)
    assert found.offsets.tolist() == [0, n]
    assert (found.members == np.arange(n)).all()
    assert sum(asked) == 12 * n + 2 * 8


def test_components_of_nothing() -> None:
    assert components([], 5).offsets.tolist() == [0]
    assert components([], 0).offsets.tolist() == [0]
    with pytest.raises(ValueError, match="32 bits"):
        components([], 2**32 - 1)


def test_runs_hold_as_much_as_they_may() -> None:
    offsets = np.array([0, 2, 7, 9, 12])
    assert runs(offsets, 4) == [range(1), range(1, 2), range(2, 3), range(3, 4)]
    assert runs(offsets, 5) == [range(1), range(1, 2), range(2, 4)]
    assert runs(offsets, 100) == [range(4)]
    assert runs(np.array([0]), 5) == []
    assert runs(np.array([0, 0, 3, 3]), 2) == [range(1), range(1, 2), range(2, 3)]


def test_a_part_of_the_clusters() -> None:
    edges = [(0, 1), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8), (9, 10), (10, 11)]
    clusters = components([np.array(edges, np.uint32)], 12)  # of 2, 5, 2 and 3
    assert as_lists(clusters.part(range(1, 3))) == [[2, 3, 4, 5, 6], [7, 8]]
