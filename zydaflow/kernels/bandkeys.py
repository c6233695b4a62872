"""Signatures → band keys of 64 bits, and keys laid out by range."""

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import finish

NO_KEY = np.uint64(0)  # of a document without words, which has nothing to be compared by
NO_VALUE = np.uint32(0xFFFFFFFF)  # throughout the signature of such a document

_BASE = np.uint64(0x9E3779B97F4A7C15)
_1 = np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def band_key(signatures: np.ndarray, document: int, band: int, rows: int) -> np.uint64:
    """A hash of the band's number and its values, signatures[document, band·rows:(band + 1)·rows].

    A polynomial mod 2^64, finished. NO_KEY without words: the signature is then 2^32 − 1 throughout, as `rows` values
    of another are with 2^(−32·rows).
    """
    h = np.uint64(band)
    words = False
    for k in range(band * rows, (band + 1) * rows):
        value = signatures[document, k]
        words |= value != NO_VALUE
        h = h * _BASE + np.uint64(value) + _1
    return finish(h) if words else NO_KEY


@njit(cache=True, nogil=True)
def fill_keys(signatures: np.ndarray, bands: int, rows: int, keys: np.ndarray) -> None:
    """keys[i, b] = band_key(signatures, i, b, rows)."""
    for document in range(keys.shape[0]):
        for band in range(bands):
            keys[document, band] = band_key(signatures, document, band, rows)


@njit(cache=True, nogil=True)
def lay_out(keys: np.ndarray, row_bits: np.uint64, bounds: np.ndarray, packed: np.ndarray) -> int:
    """Counting sort by their first byte of the keys that are some; `bounds` (257) starts as zeros.

    Packs what follows the byte and the row into one: the row has the last `row_bits` bits. Returns how many there are.
    """
    for document in range(keys.shape[0]):
        for key in keys[document]:
            bounds[np.int64(key >> np.uint64(56)) + 1] += key != NO_KEY
    for i in range(1, len(bounds)):
        bounds[i] += bounds[i - 1]
    places = bounds[:-1].copy()
    for document in range(keys.shape[0]):
        for key in keys[document]:
            if key != NO_KEY:
                piece = np.int64(key >> np.uint64(56))
                place = places[piece]
                places[piece] = place + 1
                packed[place] = key << np.uint64(8) >> row_bits << row_bits | np.uint64(document)
    return bounds[-1]
