"""How signatures are cut into bands, and what that finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.bands import (
    RANGES,
    ROW_BITS,
    band_keys,
    by_key_range,
    choose,
    curve,
    probability,
    warn_if_blind,
)
from zydaflow.errors import RecipeError


@pytest.mark.parametrize(
    ("threshold", "verify", "split"),
    [(0.8, "none", (9, 13)), (0.8, "signature", (14, 9)), (0.4, "exact", (42, 3)), (0.4, "none", (32, 4))],
)
def test_the_split_follows_the_weighted_integral(threshold: float, verify: str, split: tuple[int, int]) -> None:
    assert choose(threshold, 128, verify) == split


@pytest.mark.parametrize("verify", ["none", "signature", "exact"])
@pytest.mark.parametrize("threshold", [0.999, 1.0])
def test_thresholds_near_one_have_two_bands(threshold: float, verify: str) -> None:
    assert choose(threshold, 128, verify) == (2, 64)
    assert choose(threshold, 9, verify) == (2, 4)
    assert warn_if_blind(threshold, 2, 64) is None


@pytest.mark.parametrize("permutations", [2, 3, 16, 128])
def test_every_threshold_has_a_split(permutations: int) -> None:
    for step in range(1, 21):
        bands, rows = choose(step / 20, permutations, "signature")
        assert bands >= 2
        assert 1 <= rows <= permutations // bands


def test_permutations_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(RecipeError, match=r"dedup\.permutations: 1 cannot"):
        choose(0.8, 1, "signature")


def test_the_curve() -> None:
    points = curve(32, 4)
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    assert points[8] == (0.4, pytest.approx(0.5639, abs=1e-4))
    assert [p for _, p in points] == sorted(p for _, p in points)
    assert probability(0.8, 9, 13) == pytest.approx(0.40, abs=0.005)


def test_bands_that_cannot_find_the_threshold_are_named() -> None:
    assert warn_if_blind(0.4, 32, 4) is None
    warning = warn_if_blind(0.8, 9, 13)
    assert warning is not None
    assert "9 bands × 13 rows find only 39.9% of the pairs whose similarity is the threshold 0.8" in warning
    assert warn_if_blind(0.4, 1, 128) is not None


def test_more_bands_than_the_signature_has_are_refused() -> None:
    signatures = np.zeros((3, 128), np.uint32)
    assert band_keys(signatures, 32, 4).shape == (3, 32)
    with pytest.raises(RecipeError, match="32 bands × 5 rows need 160 permutations, and signatures have 128"):
        band_keys(signatures, 32, 5)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.integers(0, 6), st.integers(1, 4), st.integers(1, 3), st.randoms(use_true_random=False))
def test_keys_are_equal_where_band_and_values_are(n: int, bands: int, rows: int, random) -> None:
    values = [[random.randrange(2) for _ in range(bands * rows + 1)] for _ in range(n)]
    signatures = np.array(values, np.uint32).reshape(n, -1) if n else np.empty((0, bands * rows + 1), np.uint32)
    keys = band_keys(signatures, bands, rows)
    cells = [(b, tuple(values[i][b * rows : (b + 1) * rows])) for i in range(n) for b in range(bands)]
    flat = keys.reshape(-1).tolist()
    assert len(set(zip(cells, flat, strict=True))) == len(set(cells)) == len(set(flat))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.lists(st.one_of(st.just(0), st.integers(0, 2**64 - 1)), min_size=3, max_size=3), max_size=20))
def test_key_ranges_hold_every_key_once_and_none_of_nothing(rows: list[list[int]]) -> None:
    table = by_key_range(np.array(rows, np.uint64).reshape(-1, 3))
    assert (table.packed.dtype, len(table.bounds)) == (np.uint64, RANGES + 1)
    assert (table.bounds[0], table.bounds[-1]) == (0, len(table.packed))
    found = []
    for r in range(RANGES):
        piece = table.packed[table.bounds[r] : table.bounds[r + 1]].tolist()
        found += [((r << 46) + (packed >> ROW_BITS), packed % 2**ROW_BITS) for packed in piece]
    expected = sorted(((key, i) for i, row in enumerate(rows) for key in row if key), key=lambda pair: pair[0] >> 56)
    assert found == [(key >> 10, i) for key, i in expected]  # in a range, as they came


def test_a_document_without_words_has_no_key() -> None:
    signatures = np.full((2, 8), 0xFFFFFFFF, np.uint32)
    signatures[1, 5] = 0
    assert (band_keys(signatures, 4, 2) == 0).tolist() == [[True] * 4, [True, True, False, True]]
