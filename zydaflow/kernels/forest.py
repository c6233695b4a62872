"""Keys of one range → the pairs of documents that hold them together."""

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import finish

NOBODY = np.uint32(0xFFFFFFFF)  # no document has this number

_BASE = np.uint64(0x9E3779B97F4A7C15)
_SMALLEST = 1 << 13  # slots of a table at first: they fit the second-level cache
_SEEN = 1 << 16  # counters, several for each key of a usual piece


@njit(cache=True, nogil=True)
def count(packed: np.ndarray, shift: np.uint64, sizes: np.ndarray) -> None:
    """Adds to `sizes` how many of the packed keys belong to each piece: those with the same bits above `shift`."""
    for value in packed:
        sizes[np.int64(value >> shift)] += 1


@njit(cache=True, nogil=True)
def scatter(
    packed: np.ndarray,
    first: np.uint32,
    row_bits: np.uint64,
    shift: np.uint64,
    start: int,
    places: np.ndarray,
    keys: np.ndarray,
    docs: np.ndarray,
) -> None:
    """Puts the keys of the pieces start, start + 1, … and their documents where each piece has its next place.

    A packed key ends in `row_bits` bits that are the document's number, counted from `first`. `places` has one entry
    per piece, and moves on.
    """
    rows = (np.uint64(1) << row_bits) - np.uint64(1)
    for value in packed:
        piece = np.int64(value >> shift) - start
        if 0 <= piece < len(places):
            place = places[piece]
            places[piece] = place + 1
            keys[place] = value >> row_bits
            docs[place] = first + np.uint32(value & rows)


@njit(cache=True, nogil=True)
def stars(
    keys: np.ndarray,
    docs: np.ndarray,
    bounds: np.ndarray,
    salted: bool,
    mixed_only: bool,
    boundaries: np.ndarray,
    edges: np.ndarray,
) -> tuple[int, int]:
    """Links every document of a bucket to the bucket's lowest. Returns the edges written, and the largest bucket.

    A piece of the keys lies at bounds[i]:bounds[i + 1], and equal keys in one piece; keys and documents are used up.
    With `salted`, the number of the document's dataset is hashed into its key: documents of two datasets then share
    none. With `mixed_only`, only in buckets that hold documents of at least two datasets. `edges` (uint32, two columns)
    has room for one edge per key. An open-addressing table per piece, as large as its buckets are many; a bucket takes
    time linear in its documents.
    """
    table = empty_table(_SMALLEST)
    seen = np.empty(_SEEN, np.uint8)
    written = 0
    largest = min(len(keys), 1)
    for piece in range(len(bounds) - 1):
        start = bounds[piece]
        stop = bounds[piece + 1]
        if salted:
            salt(keys[start:stop], docs[start:stop], boundaries)
        stop = start + narrow(keys[start:stop], docs[start:stop], seen)
        most = fill(keys[start:stop], docs[start:stop], table)
        while most < 0:
            table = empty_table(2 * len(table[0]))
            most = fill(keys[start:stop], docs[start:stop], table)
        largest = max(largest, most)
        slot_keys, lowest, highest, _ = table
        for i in range(start, stop):
            slot = find(slot_keys, lowest, keys[i])
            if lowest[slot] != docs[i] and (not mixed_only or mixed(lowest[slot], highest[slot], boundaries)):
                edges[written, 0] = lowest[slot]
                edges[written, 1] = docs[i]
                written += 1
    return written, largest


@njit(cache=True, nogil=True)
def empty_table(slots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each slot's key, its lowest and highest document, and how many documents it holds."""
    return (
        np.empty(slots, np.uint64),
        np.empty(slots, np.uint32),
        np.empty(slots, np.uint32),
        np.empty(slots, np.int64),
    )


@njit(cache=True, nogil=True)
def salt(keys: np.ndarray, docs: np.ndarray, boundaries: np.ndarray) -> None:
    """Makes keys differ from dataset to dataset."""
    for i in range(len(keys)):
        keys[i] = finish(keys[i] + np.uint64(np.searchsorted(boundaries, docs[i], side="right")) * _BASE)


@njit(cache=True, nogil=True)
def narrow(keys: np.ndarray, docs: np.ndarray, seen: np.ndarray) -> int:
    """Moves to the front the keys that may be there twice: most are not, and need no table. Returns how many."""
    seen[:] = 0
    for key in keys:
        at = counter(key)
        seen[at] = min(seen[at] + np.uint8(1), np.uint8(2))
    kept = 0
    for i in range(len(keys)):
        key = keys[i]
        keys[kept] = key
        docs[kept] = docs[i]
        kept += seen[counter(key)] > 1
    return kept


@njit(cache=True, nogil=True, inline="always")
def counter(key: np.uint64) -> np.int64:
    """By bits in which neither a piece's keys agree nor `find` looks."""
    return np.int64(key >> np.uint64(16)) & (_SEEN - 1)


@njit(cache=True, nogil=True)
def fill(keys: np.ndarray, docs: np.ndarray, table: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> int:
    """Enters the keys into the table. Returns the largest bucket, or -1 if more than half of the slots are needed."""
    slot_keys, lowest, highest, held = table
    lowest[:] = NOBODY
    free = len(lowest) // 2
    largest = 0
    for i in range(len(keys)):
        slot = find(slot_keys, lowest, keys[i])
        if lowest[slot] == NOBODY:
            if free == 0:
                return -1
            free -= 1
            slot_keys[slot] = keys[i]
            lowest[slot] = docs[i]
            highest[slot] = docs[i]
            held[slot] = 1
        else:
            lowest[slot] = min(lowest[slot], docs[i])
            highest[slot] = max(highest[slot], docs[i])
            held[slot] += 1
            largest = max(largest, held[slot])
    return largest


@njit(cache=True, nogil=True, inline="always")
def find(slot_keys: np.ndarray, lowest: np.ndarray, key: np.uint64) -> np.int64:
    """The slot of a key, or the empty one where it belongs; by its last bits, since a piece shares the first."""
    last = len(lowest) - 1
    slot = np.int64(key) & last
    while lowest[slot] != NOBODY and slot_keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@njit(cache=True, nogil=True, inline="always")
def mixed(low: np.uint32, high: np.uint32, boundaries: np.ndarray) -> bool:
    """Whether two documents belong to different datasets."""
    return np.searchsorted(boundaries, low, side="right") != np.searchsorted(boundaries, high, side="right")
