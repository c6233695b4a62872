"""Normalised text → 64-bit hashes of its shingles, each in constant time.

A string's polynomial is P(s) = sum of (byte + 1) · BASE^(bytes after it), mod 2^64, and `finish` mixes it. A shingle's
is the difference of two prefixes', as in Karp and Rabin (1987). BASE is odd, so it has an inverse, and prefixes are
kept as S(t) = sum of (byte + 1) · BASE^−(bytes up to it and itself), which is only added to from byte to byte:
P(text[begin:end]) = BASE^end · (S(end) − S(begin)). Positions count from the block of text that is being read, so
that the powers are those of a small table; what is kept from earlier blocks moves with it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

BASE = 0x9E3779B97F4A7C15  # odd; 2^64 over the golden ratio, as in Fibonacci hashing
MIX_1 = 0xFF51AFD7ED558CCD  # the multipliers of MurmurHash3's 64-bit finaliser
MIX_2 = 0xC4CEB9FE1A85EC53
SPACE = 32
BLOCK = 1024  # bytes of text per call of `next_shingles`: they and all made of them stay in the first-level cache

_BASE = np.uint64(BASE)
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_33 = np.uint64(33)
_1 = np.uint64(1)


class Window(NamedTuple):
    """The ends of the last units (words, characters) of the text that is being read, and the reader's state."""

    ends: np.ndarray  # uint64 (size + BLOCK + 1,): S up to each unit's end
    scales: np.ndarray  # uint64: BASE^end
    starts: np.ndarray  # uint64: S up to the start of the unit after it
    terms: np.ndarray  # uint64 (BLOCK,): what each byte adds to S
    total: np.ndarray  # uint64 (1,): S of the text that has been read
    state: np.ndarray  # int64 (2,): bytes that have been read, ends that are filled in


def powers() -> np.ndarray:
    """uint64 (2, BLOCK + 1): BASE^0 … BASE^BLOCK mod 2^64, and BASE^−1 … BASE^−(BLOCK + 1)."""
    inverse = pow(BASE, -1, 1 << 64)
    result = np.empty((2, BLOCK + 1), np.uint64)
    result[0, 0] = 1
    result[0, 1:] = BASE
    result[1] = inverse
    return np.cumprod(result, axis=1, dtype=np.uint64)


@njit(cache=True, nogil=True)
def window(size: int) -> Window:
    """A window for shingles of `size` units."""
    room = size + BLOCK + 1
    return Window(
        np.empty(room, np.uint64),
        np.empty(room, np.uint64),
        np.empty(room, np.uint64),
        np.empty(BLOCK, np.uint64),
        np.zeros(1, np.uint64),
        np.zeros(2, np.int64),
    )


@njit(cache=True, nogil=True, inline="always")
def finish(h: np.uint64) -> np.uint64:
    """MurmurHash3's finaliser of 64 bits: a bijection in which every bit depends on every other."""
    h = (h ^ (h >> _33)) * _MIX_1
    h = (h ^ (h >> _33)) * _MIX_2
    return h ^ (h >> _33)


@njit(cache=True, nogil=True)
def begin(reader: Window, by_word: bool) -> None:
    """Makes the window ready for another text."""
    reader.total[0] = 0
    reader.state[0] = 0
    reader.state[1] = 1 if by_word else 0  # the first word begins after an end too, as if a space came before it
    reader.starts[0] = 0


@njit(cache=True, nogil=True)
def next_shingles(
    text: np.ndarray, length: int, by_word: bool, size: int, table: np.ndarray, reader: Window, out: np.ndarray
) -> int:
    """Writes the hashes of the next shingles to `out` and returns how many; all are done when state[0] is `length`.

    Args:
        text, length: uint8, normalised text and its bytes; at least one.
        by_word: whether a shingle has `size` words, or `size` characters. A text with fewer is one shingle.
        table: `powers()`.
        reader: the window, after `begin`.
        out: uint64, with room for BLOCK + 1 or for all of them.
    """
    skip = max(0, reader.state[1] - size)
    known = reader.state[1] - skip
    for i in range(known):
        reader.starts[i] = reader.starts[i + skip] * table[0, BLOCK]
    reader.total[0] *= table[0, BLOCK]
    filled = read_block(text, length, by_word, known, table, reader)
    first = max(known, size)
    count = max(0, filled - first)
    ends = reader.ends[first:filled]
    scales = reader.scales[first:filled]
    starts = reader.starts[first - size :]
    for i in range(count):
        out[i] = finish(scales[i] * (ends[i] - starts[i]))
    if filled <= size and reader.state[0] == length:
        out[0] = finish(reader.scales[filled - 1] * reader.ends[filled - 1])
        return 1
    return count


@njit(cache=True, nogil=True)
def read_block(text: np.ndarray, length: int, by_word: bool, known: int, table: np.ndarray, reader: Window) -> int:
    """Reads the next block and fills in the ends in it, and the text's own, behind `known`. Returns how many there are.

    Every byte writes an end and only the right ones advance: ends come too irregularly for a branch.
    """
    at = reader.state[0]
    block = text[at : min(length, at + BLOCK)]
    up, down = table[0], table[1]
    ends, scales, starts, terms = reader.ends[known:], reader.scales[known:], reader.starts[known:], reader.terms
    for i in range(len(block)):
        terms[i] = (np.uint64(block[i]) + _1) * down[i]
    filled = 0  # counted from 0, which spares the check for a negative index
    total = reader.total[0]
    for i in range(len(block)):
        before = total
        total += terms[i]
        ends[filled] = before
        scales[filled] = up[i]
        starts[filled] = total if by_word else before
        filled += block[i] == SPACE if by_word else (block[i] & 0xC0) != 0x80
    at += len(block)
    if at == length:
        ends[filled] = total
        scales[filled] = up[len(block)]
        filled += 1
    reader.total[0] = total
    reader.state[0] = at
    reader.state[1] = known + filled
    return known + filled


@njit(cache=True, nogil=True)
def hash_texts(data: np.ndarray, offsets: np.ndarray, hashes: np.ndarray) -> None:
    """hashes[i] (uint64): the hash of data[offsets[i]:offsets[i + 1]] as one shingle."""
    for i in range(len(hashes)):
        h = np.uint64(0)
        for at in range(offsets[i], offsets[i + 1]):
            h = h * _BASE + (np.uint64(data[at]) + _1)
        hashes[i] = finish(h)
