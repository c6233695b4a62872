"""All pairs of some documents, by how far their signatures agree: every one compared, so for samples alone."""

import numpy as np
from numba import njit

from zydaflow.kernels.jaccard import agreement, intersection
from zydaflow.kernels.shingles import finish

TILE = 256  # signatures whose comparison stays in the second-level cache
_2_TO_53 = 9007199254740992.0


@njit(cache=True, nogil=True)
def count_agreements(signatures: np.ndarray, dataset: np.ndarray, piece: np.ndarray, counts: np.ndarray) -> None:
    """counts[d, e, s, a] += 1 for each pair i < j: datasets d and e, s = 1 if of one piece, agreeing in a places.

    Pieces of different datasets have different numbers.
    """
    n = len(signatures)
    for low in range(0, n, TILE):
        for i in range(min(low + TILE, n)):
            for j in range(max(low, i + 1), min(low + TILE, n)):
                same = 1 if piece[i] == piece[j] else 0
                counts[dataset[i], dataset[j], same, agreement(signatures[i], signatures[j])] += 1


@njit(cache=True, nogil=True)
def sum_by_piece(
    signatures: np.ndarray,
    dataset: np.ndarray,
    piece: np.ndarray,
    weights: np.ndarray,
    shares: np.ndarray,
    link: np.ndarray,
    sums: np.ndarray,
) -> None:
    """sums[l, p, q] += weights[d, e, s] · shares[l, q, a] for each pair i < j, the pieces p of i and j, l = link[d, e].

    d, e, s and a are as in `count_agreements`. Pairs with l < 0 or a = 0 do not count, those of one piece only once.
    """
    n = len(signatures)
    for low in range(0, n, TILE):
        for i in range(min(low + TILE, n)):
            for j in range(max(low, i + 1), min(low + TILE, n)):
                number = link[dataset[i], dataset[j]]
                places = agreement(signatures[i], signatures[j])
                if number < 0 or places == 0:
                    continue
                same = 1 if piece[i] == piece[j] else 0
                for q in range(shares.shape[1]):
                    value = weights[dataset[i], dataset[j], same] * shares[number, q, places]
                    sums[number, piece[i], q] += value
                    if not same:
                        sums[number, piece[j], q] += value


@njit(cache=True, nogil=True)
def list_pairs(
    signatures: np.ndarray, dataset: np.ndarray, wanted: np.ndarray, share: np.ndarray, pairs: np.ndarray
) -> int:
    """Fills pairs (k, 3) with i < j and the places a in which they agree, and gives their number, at most k.

    Of the pairs whose datasets are wanted[d, e], about share[a] (0 to 1) are listed; a hash of i and j says which.
    """
    n = len(signatures)
    count = 0
    for low in range(0, n, TILE):
        for i in range(min(low + TILE, n)):
            for j in range(max(low, i + 1), min(low + TILE, n)):
                if not wanted[dataset[i], dataset[j]]:
                    continue
                places = agreement(signatures[i], signatures[j])
                if share[places] > 0.0 and count < len(pairs) and _fraction(i, j) < share[places]:
                    pairs[count, 0] = i
                    pairs[count, 1] = j
                    pairs[count, 2] = places
                    count += 1
    return count


@njit(cache=True, nogil=True)
def _fraction(i: int, j: int) -> float:
    """A number from 0 to 1, below 1, that looks random and follows from i and j."""
    h = finish(finish(np.uint64(i)) + np.uint64(j) + np.uint64(1))
    return np.float64(h >> np.uint64(11)) / _2_TO_53


@njit(cache=True, nogil=True)
def jaccard_of(hashes: np.ndarray, starts: np.ndarray, stops: np.ndarray, pairs: np.ndarray, out: np.ndarray) -> None:
    """out[k] = the Jaccard of the sets pairs[k, 0] and pairs[k, 1], sorted and not empty."""
    for k in range(len(pairs)):
        left = hashes[starts[pairs[k, 0]] : stops[pairs[k, 0]]]
        right = hashes[starts[pairs[k, 1]] : stops[pairs[k, 1]]]
        common = intersection(left, right)
        out[k] = common / (len(left) + len(right) - common)
