"""Hashes of shingles → the minima of datasketch's affine permutations of 32 bits."""

import numpy as np
from numba import njit

from zydaflow.kernels.normalise import normalise, room
from zydaflow.kernels.shingles import BLOCK, begin, next_shingles, window

_M1 = np.uint32(0x85EBCA6B)
_M2 = np.uint32(0xC2B2AE35)
_16 = np.uint32(16)
_13 = np.uint32(13)
SPACE = 32


@njit(cache=True, nogil=True, inline="always")
def fold(h: np.uint64) -> np.uint32:
    """64 bits to 32: the upper half on the lower."""
    return np.uint32(h ^ (h >> np.uint64(32)))


@njit(cache=True, nogil=True, inline="always")
def premix(h: np.uint32) -> np.uint32:
    """MurmurHash3's 32-bit finaliser, which datasketch applies to a hash before it permutes it."""
    h = np.uint32(h ^ (h >> _16))
    h = np.uint32(h * _M1)
    h = np.uint32(h ^ (h >> _13))
    h = np.uint32(h * _M2)
    return np.uint32(h ^ (h >> _16))


@njit(cache=True, nogil=True)
def mix(hashes: np.ndarray, count: int, out: np.ndarray) -> None:
    """The first `count` hashes (uint64; at least one) as datasketch permutes them, and the last again up to eights."""
    for i in range(count):
        out[i] = premix(fold(hashes[i]))
    for i in range(count, (count + 7) // 8 * 8):
        out[i] = out[count - 1]


@njit(cache=True, nogil=True)
def lower_minima(mixed: np.ndarray, count: int, a: np.ndarray, b: np.ndarray, minima: np.ndarray) -> None:
    """minima[k] = min(minima[k], a[k]·h + b[k] mod 2^32) over the first `count` of mixed (uint32), eight at a time."""
    for i in range(0, count, 8):
        h0, h1, h2, h3 = mixed[i], mixed[i + 1], mixed[i + 2], mixed[i + 3]
        h4, h5, h6, h7 = mixed[i + 4], mixed[i + 5], mixed[i + 6], mixed[i + 7]
        for k in range(len(minima)):
            m0 = min(np.uint32(a[k] * h0 + b[k]), np.uint32(a[k] * h1 + b[k]))
            m2 = min(np.uint32(a[k] * h2 + b[k]), np.uint32(a[k] * h3 + b[k]))
            m4 = min(np.uint32(a[k] * h4 + b[k]), np.uint32(a[k] * h5 + b[k]))
            m6 = min(np.uint32(a[k] * h6 + b[k]), np.uint32(a[k] * h7 + b[k]))
            minima[k] = min(minima[k], min(min(m0, m2), min(m4, m6)))


@njit(cache=True, nogil=True)
def sign(
    data: np.ndarray,
    offsets: np.ndarray,
    letters: np.ndarray,
    table: np.ndarray,
    by_word: bool,
    size: int,
    a: np.ndarray,
    b: np.ndarray,
    signatures: np.ndarray,
    n_words: np.ndarray,
) -> None:
    """Signatures (n, permutations) uint32, filled with 2^32 − 1 before, and the words of each document (int64).

    Scratch memory: 5/3 of the longest document.
    """
    longest = 0
    for document in range(len(offsets) - 1):
        longest = max(longest, offsets[document + 1] - offsets[document])
    text = np.empty(room(longest), np.uint8)
    hashes = np.empty(BLOCK + 1, np.uint64)
    mixed = np.empty(BLOCK + 8, np.uint32)
    reader = window(size)
    for document in range(len(offsets) - 1):
        length = normalise(data, offsets[document], offsets[document + 1], letters, text)
        n_words[document] = count_words(text, length)
        begin(reader, by_word)
        while reader.state[0] < length:
            count = next_shingles(text, length, by_word, size, table, reader, hashes)
            if count > 0:
                mix(hashes, count, mixed)
                lower_minima(mixed, count, a, b, signatures[document])


@njit(cache=True, nogil=True)
def count_words(text: np.ndarray, length: int) -> int:
    """Words of normalised text."""
    if length == 0:
        return 0
    spaces = 0
    for i in range(length):
        spaces += text[i] == SPACE
    return spaces + 1
