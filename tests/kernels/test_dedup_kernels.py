"""Small kernels of dedup against plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.buckets import NONE, number_few, number_many, table_size
from zydaflow.kernels.jaccard import agreement, intersection
from zydaflow.kernels.shingles import BASE, BLOCK, finish, powers
from zydaflow.kernels.shinglesets import keep_first
from zydaflow.kernels.unionfind import root, unite


def test_powers_are_those_of_the_base() -> None:
    up, down = powers().tolist()
    assert up == [pow(BASE, i, 1 << 64) for i in range(BLOCK + 1)]
    assert down == [pow(BASE, -i - 1, 1 << 64) for i in range(BLOCK + 1)]


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 50)), st.sets(st.integers(0, 50)))
def test_intersection(left: set[int], right: set[int]) -> None:
    arrays = (np.array(sorted(s), np.uint64) for s in (left, right))
    assert intersection(*arrays) == len(left & right)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2))))
def test_agreement(pairs: list[tuple[int, int]]) -> None:
    left, right = np.array(pairs, np.uint32).reshape(-1, 2).T.copy()
    assert agreement(left, right) == sum(a == b for a, b in pairs)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9)))
def test_keep_first(values: list[int]) -> None:
    array = np.array(sorted(values), np.uint64)
    assert array[: keep_first(array)].tolist() == sorted(set(values))


def test_finish_is_murmurs() -> None:
    # The published value: MurmurHash3's fmix64 maps 1 to 0xB456BCFC34C2CB2C.
    assert int(finish(np.uint64(1))) == 0xB456BCFC34C2CB2C


def test_a_root_is_the_lowest_whatever_the_order() -> None:
    for edges in ([(3, 4), (1, 4), (0, 9)], [(0, 9), (4, 1), (4, 3)]):
        parents = np.arange(10, dtype=np.uint32)
        unite(parents, np.array(edges, np.uint32))
        assert [int(root(parents, i)) for i in range(10)] == [0, 1, 2, 1, 1, 5, 6, 7, 8, 0]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=60))
def test_buckets_are_numbered_alike_for_few_documents_and_for_many(values: list[int]) -> None:
    """By their second document; a key of 0 is none, and what nobody else has needs no bucket."""
    keys = np.array(values, np.uint64)
    few, many = np.zeros(len(keys), np.int32), np.zeros(len(keys), np.int32)
    used = number_few(keys, few, 5)
    assert number_many(keys, many, 5, np.empty(table_size(len(keys)), np.int32)) == used
    assert few.tolist() == many.tolist()
    expected: dict[int, int] = {}
    for place, key in enumerate(values):
        if key and key in values[:place]:
            expected.setdefault(key, 5 + len(expected))
    assert few.tolist() == [expected.get(key, NONE) for key in values]
    assert used == 5 + len(expected)
