"""Which parts of short texts are entries of long lists: an open hash table whose hits are compared byte by byte."""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import finish

DOT = 46
NONE = -1

_BASIS = np.uint64(0xCBF29CE484222325)  # of FNV-1a, 64 bits
_PRIME = np.uint64(0x100000001B3)


class Listed(NamedTuple):
    """n entries, and where they lie in a table at most half full."""

    data: np.ndarray  # uint8
    offsets: np.ndarray  # int64, n + 1
    slots: np.ndarray  # int32, a power of two of them: an entry's number, or NONE


def build(data: np.ndarray, offsets: np.ndarray) -> Listed:
    """The table of a list's entries; of equal ones the first counts. Raises ValueError for 2³⁰ entries or more."""
    if len(offsets) > 2**30:
        raise ValueError(f"a list of {len(offsets) - 1:,} entries is too long")
    table = Listed(data, offsets, np.full(1 << (2 * len(offsets)).bit_length(), NONE, np.int32))
    _fill(table)
    return table


@njit(cache=True, nogil=True)
def _fill(table: Listed) -> None:
    for entry in range(len(table.offsets) - 1):
        slot = _slot(table.data, table.offsets[entry], table.offsets[entry + 1], table)
        if table.slots[slot] == NONE:
            table.slots[slot] = entry


@njit(cache=True, nogil=True)
def _slot(data: np.ndarray, start: int, stop: int, table: Listed) -> np.int64:
    """Where data[start:stop] lies in the table, or would lie."""
    h = _BASIS
    for at in range(start, stop):
        h = (h ^ np.uint64(data[at])) * _PRIME
    mask = len(table.slots) - 1
    slot = np.int64(finish(h) & np.uint64(mask))
    while table.slots[slot] != NONE and not _is_entry(data, start, stop, table, table.slots[slot]):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _is_entry(data: np.ndarray, start: int, stop: int, table: Listed, entry: int) -> bool:
    first = table.offsets[entry]
    if table.offsets[entry + 1] - first != stop - start:
        return False
    equal = True
    for at in range(stop - start):
        equal &= data[start + at] == table.data[first + at]
    return equal


@njit(cache=True, nogil=True)
def count_whole(data: np.ndarray, offsets: np.ndarray, table: Listed) -> np.ndarray:
    """1 for each text that is an entry, else 0: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for text in range(len(counts)):
        counts[text] = table.slots[_slot(data, offsets[text], offsets[text + 1], table)] != NONE
    return counts


@njit(cache=True, nogil=True)
def count_domains(data: np.ndarray, offsets: np.ndarray, table: Listed) -> np.ndarray:
    """How many of each text's ends, from its beginning and from behind each dot on, are entries: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for text in range(len(counts)):
        for at in range(offsets[text], offsets[text + 1]):
            if at == offsets[text] or data[at - 1] == DOT:
                counts[text] += table.slots[_slot(data, at, offsets[text + 1], table)] != NONE
    return counts


@njit(cache=True, nogil=True)
def count_words(data: np.ndarray, offsets: np.ndarray, table: Listed) -> np.ndarray:
    """How many different entries each text has among its longest runs of a-z, 0-9 and bytes from 128 on: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    found = np.full(len(table.offsets) - 1, NONE, np.int64)  # the last text that had the entry
    for text in range(len(counts)):
        start = offsets[text]
        for at in range(offsets[text], offsets[text + 1] + 1):
            if at < offsets[text + 1] and _of_word(data[at]):
                continue
            if at > start:
                entry = table.slots[_slot(data, start, at, table)]
                if entry != NONE and found[entry] != text:
                    found[entry] = text
                    counts[text] += 1
            start = at + 1
    return counts


@njit(cache=True, nogil=True)
def _of_word(byte: int) -> bool:
    return 97 <= byte <= 122 or 48 <= byte <= 57 or byte >= 128
