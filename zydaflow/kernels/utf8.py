"""UTF-8 in place: code points, lengths, and cuts that fall between characters. The input is always valid UTF-8."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def code_point(data: np.ndarray, at: int) -> tuple[np.int64, int]:
    """The code point of the character whose first byte is data[at], and its bytes (1 to 4)."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, 1
    second = np.int64(data[at + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(data[at + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(data[at + 3]) & 0x3F, 4


@njit(cache=True, nogil=True)
def code_point_before(data: np.ndarray, at: int) -> tuple[np.int64, int]:
    """The code point of the character that ends just before data[at], and its bytes (1 to 4)."""
    start = at - 1
    while data[start] & 0xC0 == 0x80:
        start -= 1
    return code_point(data, start)


@njit(cache=True, nogil=True)
def count_characters(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The number of code points of each document: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        total = 0
        for byte in data[offsets[document] : offsets[document + 1]]:
            total += (byte & 0xC0) != 0x80
        counts[document] = total
    return counts


@njit(cache=True, nogil=True)
def prefix_ends(data: np.ndarray, offsets: np.ndarray, limit: int) -> np.ndarray:
    """Where each document's longest prefix of whole characters within `limit` bytes ends in `data`: int64[n]."""
    ends = offsets[1:].copy()
    for document in range(len(ends)):
        start = offsets[document]
        if ends[document] - start > limit:
            end = start + limit
            while end > start and data[end] & 0xC0 == 0x80:
                end -= 1
            ends[document] = end
    return ends
