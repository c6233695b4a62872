"""Similarity of two documents: agreement of signatures, overlap of sorted sets."""

import numpy as np
from numba import njit

from zydaflow.kernels.bandkeys import NO_VALUE


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
def sets_alike(
    hashes: np.ndarray, starts: np.ndarray, stops: np.ndarray, i: int, j: int, numerator: int, denominator: int
) -> bool:
    """Whether the Jaccard of sets i and j is at least numerator / denominator, in integers."""
    left = hashes[starts[i] : stops[i]]
    right = hashes[starts[j] : stops[j]]
    if min(len(left), len(right)) * denominator < numerator * max(len(left), len(right)):
        return False  # sets of such different sizes cannot be alike
    common = intersection(left, right)
    return common * denominator >= numerator * (len(left) + len(right) - common)


@njit(cache=True, nogil=True)
def bands_shared(left: np.ndarray, right: np.ndarray, bands: int, rows: int) -> int:
    """In how many bands two signatures have the same values."""
    count = 0
    for band in range(bands):
        equal = True
        for k in range(band * rows, (band + 1) * rows):
            equal &= left[k] == right[k]
        count += equal
    return count


@njit(cache=True, nogil=True)
def has_words(signature: np.ndarray) -> bool:
    """Whether the signature is that of a document with words."""
    found = False
    for value in signature:
        found |= value != NO_VALUE
    return found


@njit(cache=True, nogil=True)
def measure_pairs(
    signatures: np.ndarray, kept: np.ndarray, bands: int, rows: int, agreed: np.ndarray, shared: np.ndarray
) -> None:
    """Equal values and equal bands of signature i and signature kept[i], where kept[i] is not negative.

    A document without words has none of either.
    """
    for i in range(len(kept)):
        if kept[i] >= 0 and has_words(signatures[i]):
            agreed[i] = agreement(signatures[i], signatures[kept[i]])
            shared[i] = bands_shared(signatures[i], signatures[kept[i]], bands, rows)


@njit(cache=True, nogil=True)
def measure_sets(
    hashes: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    kept: np.ndarray,
    common: np.ndarray,
    union: np.ndarray,
) -> None:
    """Sizes of intersection and union of set i and set kept[i], where kept[i] is not negative."""
    for i in range(len(kept)):
        if kept[i] >= 0:
            left = hashes[starts[i] : stops[i]]
            right = hashes[starts[kept[i]] : stops[kept[i]]]
            common[i] = intersection(left, right)
            union[i] = len(left) + len(right) - common[i]
