"""Normalised text → 64-bit hashes of its shingles, each in constant time.

A string's polynomial is P(s) = sum of (byte + 1) · BASE^(bytes after it), mod 2^64. A shingle's is the difference of
two prefixes', P(text[:end]) − P(text[:begin]) · BASE^(end − begin), as in Karp and Rabin (1987). `finish` mixes it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

BASE = 0x9E3779B97F4A7C15  # odd; 2^64 over the golden ratio, as in Fibonacci hashing
MIX_1 = 0xFF51AFD7ED558CCD  # the multipliers of MurmurHash3's 64-bit finaliser
MIX_2 = 0xC4CEB9FE1A85EC53
SPACE = 32
BLOCK = 1024  # shingles per call of `next_shingles`: they and what they are made of stay in the first-level cache

_MASK = (1 << 64) - 1
_BASE = np.uint64(BASE)
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_33 = np.uint64(33)
_1 = np.uint64(1)
_SPACE = np.uint64(SPACE + 1)
_BEFORE = np.uint64(-(SPACE + 1) * pow(BASE, -1, 1 << 64) & _MASK)  # what a space turns into the empty text's 0


class Window(NamedTuple):
    """Where the last units (words, characters) of the text that is being read ended, and the reader's state."""

    ends: np.ndarray  # int64 (size + BLOCK + 1,): positions
    prefixes: np.ndarray  # uint64: the polynomial of the text up to each of them
    polynomial: np.ndarray  # uint64 (1,): of the text that has been read
    state: np.ndarray  # int64 (2,): bytes that have been read, ends that are filled in


def powers(n: int = 4096) -> np.ndarray:
    """BASE^0 … BASE^(n-1) mod 2^64, uint64 (n,)."""
    result = np.full(n, BASE, np.uint64)
    result[0] = 1
    return np.cumprod(result, dtype=np.uint64)


@njit(cache=True, nogil=True)
def window(size: int) -> Window:
    """A window for shingles of `size` units."""
    room = size + BLOCK + 1
    return Window(np.empty(room, np.int64), np.empty(room, np.uint64), np.zeros(1, np.uint64), np.zeros(2, np.int64))


@njit(cache=True, nogil=True, inline="always")
def finish(h: np.uint64) -> np.uint64:
    """MurmurHash3's finaliser of 64 bits: a bijection in which every bit depends on every other."""
    h = (h ^ (h >> _33)) * _MIX_1
    h = (h ^ (h >> _33)) * _MIX_2
    return h ^ (h >> _33)


@njit(cache=True, nogil=True)
def power(table: np.ndarray, exponent: int) -> np.uint64:
    """BASE^exponent, also for shingles longer than the table (a word may have megabytes)."""
    result = _1
    last = len(table) - 1
    while exponent > last:
        result *= table[last]
        exponent -= last
    return result * table[exponent]


@njit(cache=True, nogil=True)
def begin(reader: Window, by_word: bool) -> None:
    """Makes the window ready for another text."""
    reader.polynomial[0] = 0
    reader.state[:] = 0
    if by_word:  # the first word begins after an end too, as if a space came before the text
        reader.ends[0] = -1
        reader.prefixes[0] = _BEFORE
        reader.state[1] = 1


@njit(cache=True, nogil=True)
def next_shingles(
    text: np.ndarray, length: int, by_word: bool, size: int, table: np.ndarray, reader: Window, out: np.ndarray
) -> int:
    """Writes the hashes of the next shingles to `out` and returns how many; all are done when state[0] is `length`.

    Args:
        text, length: uint8, normalised text and its bytes.
        by_word: whether a shingle has `size` words, or `size` characters. A text with fewer is one shingle.
        table: uint64, powers of BASE.
        reader: the window, after `begin`.
        out: uint64, with room for BLOCK + 1 or for all of them.
    """
    skip = max(0, reader.state[1] - size)
    known = reader.state[1] - skip
    for i in range(known):
        reader.ends[i] = reader.ends[i + skip]
        reader.prefixes[i] = reader.prefixes[i + skip]
    filled = read_units(text, length, by_word, known, known + BLOCK, reader)
    gap = 1 if by_word else 0
    first = max(known, size)
    for i in range(first, filled):
        start = reader.ends[i - size] + gap
        before = reader.prefixes[i - size]
        if by_word:
            before = before * _BASE + _SPACE
        out[i - first] = finish(reader.prefixes[i] - before * power(table, reader.ends[i] - start))
    if known < filled <= size and reader.state[0] == length:
        out[0] = finish(reader.prefixes[filled - 1])
        return 1
    return max(0, filled - first)


@njit(cache=True, nogil=True)
def read_units(text: np.ndarray, length: int, by_word: bool, filled: int, room: int, reader: Window) -> int:
    """Reads on until `room` ends are filled in or the text is at its end. Returns how many are.

    Every byte writes an end and only the right ones advance: ends come too irregularly for a branch.
    """
    at = reader.state[0]
    h = reader.polynomial[0]
    ongoing = at < length
    while at < length and filled < room:
        byte = text[at]
        reader.ends[filled] = at
        reader.prefixes[filled] = h
        filled += byte == SPACE if by_word else (byte & 0xC0) != 0x80
        h = h * _BASE + (np.uint64(byte) + _1)
        at += 1
    if ongoing and at == length:
        reader.ends[filled] = at
        reader.prefixes[filled] = h
        filled += 1
    reader.polynomial[0] = h
    reader.state[0] = at
    reader.state[1] = filled
    return filled


@njit(cache=True, nogil=True)
def hash_texts(data: np.ndarray, offsets: np.ndarray, hashes: np.ndarray) -> None:
    """hashes[i] (uint64): the hash of data[offsets[i]:offsets[i + 1]] as one shingle."""
    for i in range(len(hashes)):
        h = np.uint64(0)
        for at in range(offsets[i], offsets[i + 1]):
            h = h * _BASE + (np.uint64(data[at]) + _1)
        hashes[i] = finish(h)
