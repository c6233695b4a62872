"""All pairs of a sample of documents: how similar they are, and what bands make of that."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow.dedup.shingles import Shingle, shingle_sets
from zydaflow.kernels.pairs import count_agreements, jaccard_of, list_pairs, sum_by_piece

COMPARED = 200  # pairs of each agreement whose texts are compared
DOUBT = 4  # standard deviations of the estimated similarity beyond which texts tell nothing new


class Signed(NamedTuple):
    """n documents with words. Those of one piece lay together in the input."""

    signatures: np.ndarray  # uint32 (n, permutations)
    dataset: np.ndarray  # int64 (n,), ascending
    piece: np.ndarray  # int64 (n,), from 0; of one dataset alone


@cache
def chances(bands: int, rows: int, permutations: int) -> np.ndarray:
    """float64 (permutations + 1,): the chance that a pair whose signatures agree in that many places shares a band.

    Agreements are as likely in one place as in another, so it is the share of all ways to place them that fill a band,
    by inclusion and exclusion. Over the agreements that a pair of Jaccard s may have, its mean is `probability(s)`.
    (`probability` of the estimated similarity is not fit for dissimilar pairs: with 4 rows of 128 values and s = 0.01
    its mean is ten times too large.)
    """
    found = np.zeros(permutations + 1)
    for places in range(rows, permutations + 1):
        full = 0
        for some in range(1, min(bands, places // rows) + 1):
            rest = math.comb(permutations - some * rows, places - some * rows)
            full -= (-1) ** some * math.comb(bands, some) * rest
        found[places] = full / math.comb(permutations, places)
    return found


def agreements(documents: Signed, datasets: int) -> np.ndarray:
    """int64 (datasets, datasets, 2, permutations + 1): pairs by their datasets, the lower first; 1 if of one piece;
    and the places in which their signatures agree. Time: n² / 2 pairs at 100 M/s.
    """
    counts = np.zeros((datasets, datasets, 2, documents.signatures.shape[1] + 1), np.int64)
    count_agreements(documents.signatures, documents.dataset, documents.piece, counts)
    return counts


def by_piece(documents: Signed, weights: np.ndarray, shares: np.ndarray, wanted: Sequence[np.ndarray]) -> np.ndarray:
    """float64 (passes, pieces, q): the sum over the pairs that a piece has a part in, of weight × share.

    Args:
        weights: float64 (datasets, datasets, 2), of pairs as `agreements` counts them.
        shares: float64 (passes, q, permutations + 1); those of no agreement are 0.
        wanted: for each pass, bool (datasets, datasets): which pairs are in it; none is in two.
    """
    link = np.full(weights.shape[:2], -1)
    for number, pairs in enumerate(wanted):
        link[pairs] = number
    sums = np.zeros((len(wanted), int(documents.piece.max(initial=-1)) + 1, shares.shape[1]))
    sum_by_piece(documents.signatures, documents.dataset, documents.piece, weights, shares, link, sums)
    return sums


def alike_by_texts(
    documents: Signed, texts: pa.LargeStringArray, wanted: np.ndarray, seen: np.ndarray, threshold: float, by: Shingle
) -> np.ndarray:
    """float64 (permutations + 1,): of the pairs that agree in so many places, the share whose Jaccard is the threshold
    or more; from up to about 200 pairs of each agreement that leaves it in doubt.

    Args:
        texts: of the documents.
        wanted: bool (datasets, datasets): which pairs count.
        seen: int64 (permutations + 1,): how many of those there are by agreement.
    """
    permutations = len(seen) - 1
    similarity = np.arange(permutations + 1) / permutations
    doubtful = np.abs(similarity - threshold) <= DOUBT * math.sqrt(threshold * (1 - threshold) / permutations)
    share = np.where(doubtful, np.minimum(1, COMPARED / np.maximum(seen, 1)), 0)
    pairs = np.empty((2 * int(np.minimum(seen, COMPARED)[doubtful].sum()), 3), np.int64)
    pairs = pairs[: list_pairs(documents.signatures, documents.dataset, wanted, share, pairs)]
    used, at = np.unique(pairs[:, :2], return_inverse=True)
    sets = shingle_sets(texts.take(pa.array(used)), by)
    jaccard = np.empty(len(pairs))
    jaccard_of(sets.hashes, sets.starts, sets.stops, at.reshape(-1, 2), jaccard)
    compared = np.bincount(pairs[:, 2], minlength=permutations + 1)
    alike = np.bincount(pairs[jaccard >= threshold, 2], minlength=permutations + 1)
    return np.where(doubtful, alike / np.maximum(compared, 1), similarity >= threshold)
