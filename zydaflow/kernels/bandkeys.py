"""Signatures → band keys of 64 bits, and keys laid out by range."""

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import finish

_BASE = np.uint64(0x9E3779B97F4A7C15)
_1 = np.uint64(1)


@njit(cache=True, nogil=True)
def fill_keys(signatures: np.ndarray, rows: int, keys: np.ndarray) -> None:
    """keys[i, b]: a hash of b and the values signatures[i, b·rows:(b + 1)·rows]."""
    for document in range(keys.shape[0]):
        for band in range(keys.shape[1]):
            h = np.uint64(band)
            for value in signatures[document, band * rows : (band + 1) * rows]:
                h = finish(h * _BASE + np.uint64(value) + _1)
            keys[document, band] = h


@njit(cache=True, nogil=True)
def lay_out(
    keys: np.ndarray,
    comparable: np.ndarray,
    shift: np.uint64,
    bounds: np.ndarray,
    out_keys: np.ndarray,
    out_rows: np.ndarray,
) -> None:
    """Counting sort of the keys of comparable documents by key >> shift; `bounds` (ranges + 1) starts as zeros."""
    for document in range(keys.shape[0]):
        if comparable[document]:
            for key in keys[document]:
                bounds[np.int64(key >> shift) + 1] += 1
    for i in range(1, len(bounds)):
        bounds[i] += bounds[i - 1]
    places = bounds[:-1].copy()
    for document in range(keys.shape[0]):
        if comparable[document]:
            for key in keys[document]:
                piece = np.int64(key >> shift)
                place = places[piece]
                places[piece] = place + 1
                out_keys[place] = key
                out_rows[place] = document
