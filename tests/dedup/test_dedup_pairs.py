"""What bands make of pairs that agree so far: by every way to place the agreements, and by the bands' own formula."""

import math
import random
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from zydaflow.dedup import probability, shingle_sets, sketch
from zydaflow.dedup.pairs import Signed, agreements, alike_by_texts, by_piece, chances
from zydaflow.recipe import ShingleSpec


@pytest.mark.parametrize(("bands", "rows", "permutations"), [(2, 3, 8), (3, 2, 6), (1, 4, 5), (4, 1, 4)])
def test_the_chance_is_the_share_of_all_ways_to_agree_in_so_many_places(bands, rows, permutations) -> None:
    found = chances(bands, rows, permutations)
    for places in range(permutations + 1):
        ways = [set(way) for way in combinations(range(permutations), places)]
        full = sum(any(way >= {*range(b * rows, (b + 1) * rows)} for b in range(bands)) for way in ways)
        assert found[places] == pytest.approx(full / len(ways), abs=1e-15)


@pytest.mark.parametrize(("bands", "rows"), [(32, 4), (42, 3), (14, 9), (8, 16)])
@pytest.mark.parametrize("similarity", [0.01, 0.1, 0.4, 0.8, 1.0])
def test_its_mean_over_what_a_pair_of_some_jaccard_shows_is_the_bands_own_formula(bands, rows, similarity) -> None:
    s = similarity
    shown = [math.comb(128, k) * s**k * (1 - s) ** (128 - k) for k in range(129)]
    mean = math.fsum(p * c for p, c in zip(shown, chances(bands, rows, 128), strict=True))
    assert mean == pytest.approx(probability(s, bands, rows), rel=1e-6, abs=1e-14)


def variants(count: int) -> pa.LargeStringArray:
    """Texts of 40 words that have more or fewer of them in common."""
    rng = random.Random(7)
    base = [f"w{number}" for number in range(40)]
    return pa.array(
        [" ".join(base[: rng.randint(5, 40)] + [f"u{n}x{k}" for k in range(20)]) for n in range(count)],
        pa.large_string(),
    )


def test_texts_tell_which_pairs_are_alike_where_signatures_leave_it_open() -> None:
    by, threshold = ShingleSpec(size=1), 0.4
    texts = variants(30)
    zeros = np.zeros(len(texts), np.int64)
    documents = Signed(sketch(texts, by).signatures, zeros, zeros)
    seen = agreements(documents, 1).sum(axis=(0, 1, 2))
    found = alike_by_texts(documents, texts, np.ones((1, 1), bool), seen, threshold, by)
    sets = shingle_sets(texts, by)
    words = [{*sets.hashes[a:b].tolist()} for a, b in zip(sets.starts, sets.stops, strict=True)]
    alike, all_pairs = [0] * 129, [0] * 129
    for i, j in combinations(range(len(texts)), 2):
        places = int((documents.signatures[i] == documents.signatures[j]).sum())
        all_pairs[places] += 1
        alike[places] += len(words[i] & words[j]) >= threshold * len(words[i] | words[j])
    assert max(all_pairs) < 200  # so all are compared
    expected = [a / n if n else found[k] for k, (a, n) in enumerate(zip(alike, all_pairs, strict=True))]
    assert 0 < sum(alike) < sum(all_pairs)
    assert found.tolist() == pytest.approx(expected)


def test_pieces_of_a_pass_have_part_in_all_its_pairs() -> None:
    texts = variants(12)
    dataset, piece = np.repeat([0, 1], 6), np.arange(12) // 3
    documents = Signed(sketch(texts, ShingleSpec(size=1)).signatures, dataset, piece)
    counts = agreements(documents, 2)
    share = np.arange(129) / 128
    within, across = np.eye(2, dtype=bool), ~np.eye(2, dtype=bool)
    sums = by_piece(documents, np.ones((2, 2, 2)), np.array([[share], [share]]), [within, across])
    assert sums[1].sum() == pytest.approx(2 * (counts[across].sum(axis=(0, 1)) @ share))
    near, far = counts[within][:, 1].sum(axis=0) @ share, counts[within][:, 0].sum(axis=0) @ share
    assert sums[0].sum() == pytest.approx(near + 2 * far)
