"""The kernels over all pairs of a sample, each against loops over Python's own numbers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.pairs import TILE, count_agreements, jaccard_of, list_pairs, sum_by_piece

PLACES = 6
some = settings(max_examples=50, derandomize=True, deadline=None)


@st.composite
def documents(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signatures, datasets (three, ascending) and pieces of up to twelve documents."""
    row = st.tuples(st.integers(0, 2), st.integers(0, 3), st.lists(st.integers(0, 2), min_size=PLACES, max_size=PLACES))
    rows = sorted(draw(st.lists(row, max_size=12)), key=lambda r: r[0])
    values = np.array([values for _, _, values in rows], np.uint32).reshape(-1, PLACES)
    dataset = np.array([d for d, _, _ in rows], np.int64)
    return values, dataset, np.array([d * 4 + p for d, p, _ in rows], np.int64)


def agreement(values: np.ndarray, i: int, j: int) -> int:
    return sum(a == b for a, b in zip(values[i].tolist(), values[j].tolist(), strict=True))


@some
@given(documents())
def test_pairs_are_counted_by_dataset_piece_and_agreement(sample) -> None:
    values, dataset, piece = sample
    expected = np.zeros((3, 3, 2, PLACES + 1), np.int64)
    for i, j in combinations(range(len(values)), 2):
        expected[dataset[i], dataset[j], int(piece[i] == piece[j]), agreement(values, i, j)] += 1
    counts = np.zeros_like(expected)
    count_agreements(values, dataset, piece, counts)
    assert counts.tolist() == expected.tolist()


def test_every_pair_is_met_once_however_many_tiles_there_are() -> None:
    n = 2 * TILE + 3
    zeros = np.zeros(n, np.int64)
    counts = np.zeros((1, 1, 2, PLACES + 1), np.int64)
    count_agreements(np.zeros((n, PLACES), np.uint32), zeros, zeros, counts)
    assert counts[0, 0, 1, PLACES] == counts.sum() == n * (n - 1) // 2


@some
@given(documents(), st.integers(0, 2**32))
def test_pieces_have_the_sums_of_their_pairs(sample, seed: int) -> None:
    values, dataset, piece = sample
    rng = np.random.default_rng(seed)
    weights, shares = rng.integers(0, 9, (3, 3, 2)).astype(float), rng.integers(0, 9, (2, 2, PLACES + 1)).astype(float)
    shares[:, :, 0] = 0
    link = np.array([[0, 1, -1], [1, 0, 1], [-1, 1, 0]])
    expected = np.zeros((2, 12, 2))
    for i, j in combinations(range(len(values)), 2):
        near = piece[i] == piece[j]
        if (number := link[dataset[i], dataset[j]]) >= 0:
            value = weights[dataset[i], dataset[j], int(near)] * shares[number, :, agreement(values, i, j)]
            for p in {piece[i], piece[j]}:
                expected[number, p] += value
    sums = np.zeros_like(expected)
    sum_by_piece(values, dataset, piece, weights, shares, link, sums)
    assert sums.tolist() == expected.tolist()


@some
@given(documents(), st.sets(st.integers(0, PLACES)))
def test_pairs_of_the_chosen_agreements_are_listed(sample, chosen: set[int]) -> None:
    values, dataset, _ = sample
    wanted = ~np.eye(3, dtype=bool)
    share = np.array([float(places in chosen) for places in range(PLACES + 1)])
    pairs = np.empty((66, 3), np.int64)
    found = pairs[: list_pairs(values, dataset, wanted, share, pairs)]
    all_pairs = [(i, j, agreement(values, i, j)) for i, j in combinations(range(len(values)), 2)]
    assert {*map(tuple, found.tolist())} == {p for p in all_pairs if p[2] in chosen and dataset[p[0]] != dataset[p[1]]}


def test_a_share_of_the_pairs_is_listed_and_no_more_than_there_is_room_for() -> None:
    n = 300
    same, zeros, wanted = np.zeros((n, PLACES), np.uint32), np.zeros(n, np.int64), np.ones((1, 1), bool)
    share = np.full(PLACES + 1, 0.1)
    pairs = np.empty((n * n, 3), np.int64)
    count = list_pairs(same, zeros, wanted, share, pairs)
    assert count == pytest.approx(0.1 * n * (n - 1) / 2, rel=0.05)
    assert list_pairs(same, zeros, wanted, share, pairs[:7]) == 7


@some
@given(st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=2, max_size=6))
def test_the_jaccard_of_pairs(sets) -> None:
    hashes = np.array([value for s in sets for value in sorted(s)], np.uint64)
    stops = np.cumsum([len(s) for s in sets])
    starts = stops - [len(s) for s in sets]
    pairs = np.array([(i, j, 0) for i, j in combinations(range(len(sets)), 2)])[:, :2]
    out = np.empty(len(pairs))
    jaccard_of(hashes, starts, stops, pairs, out)
    assert out.tolist() == [len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in pairs.tolist()]
