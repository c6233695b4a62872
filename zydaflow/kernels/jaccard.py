"""Similarity of two documents: agreement of signatures, overlap of sorted sets."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def agreement(left: np.ndarray, right: np.ndarray) -> int:
    """In how many places two rows are equal."""
    count = 0
    for k in range(len(left)):
        count += left[k] == right[k]
    return count


@njit(cache=True, nogil=True)
def intersection(left: np.ndarray, right: np.ndarray) -> int:
    """How many values two sorted arrays, each without repetition, have in common."""
    i = 0
    j = 0
    count = 0
    while i < len(left) and j < len(right):
        a = left[i]
        b = right[j]
        count += a == b
        i += a <= b
        j += b <= a
    return count


@njit(cache=True, nogil=True)
def signatures_alike(signatures: np.ndarray, i: int, j: int, least: int) -> bool:
    """Whether the signatures of i and j agree in at least `least` places."""
    return agreement(signatures[i], signatures[j]) >= least


@njit(cache=True, nogil=True)
def sets_alike(hashes: np.ndarray, offsets: np.ndarray, i: int, j: int, numerator: int, denominator: int) -> bool:
    """Whether the Jaccard of sets i and j is at least numerator / denominator, in integers."""
    left = hashes[offsets[i] : offsets[i + 1]]
    right = hashes[offsets[j] : offsets[j + 1]]
    if min(len(left), len(right)) * denominator < numerator * max(len(left), len(right)):
        return False  # sets of such different sizes cannot be alike
    common = intersection(left, right)
    return common * denominator >= numerator * (len(left) + len(right) - common)


@njit(cache=True, nogil=True)
def measure_pairs(rows: np.ndarray, kept: np.ndarray, out: np.ndarray) -> None:
    """out[i] = agreement of row i with row kept[i], where kept[i] is not negative."""
    for i in range(len(kept)):
        if kept[i] >= 0:
            out[i] = agreement(rows[i], rows[kept[i]])


@njit(cache=True, nogil=True)
def measure_sets(
    hashes: np.ndarray, offsets: np.ndarray, kept: np.ndarray, common: np.ndarray, union: np.ndarray
) -> None:
    """Sizes of intersection and union of set i and set kept[i], where kept[i] is not negative."""
    for i in range(len(kept)):
        if kept[i] >= 0:
            j = kept[i]
            left = hashes[offsets[i] : offsets[i + 1]]
            right = hashes[offsets[j] : offsets[j + 1]]
            common[i] = intersection(left, right)
            union[i] = len(left) + len(right) - common[i]
