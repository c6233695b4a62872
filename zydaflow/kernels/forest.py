"""Keys of one range → the pairs of documents that hold them together."""

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import finish
from zydaflow.kernels.unionfind import root

NOBODY = np.uint32(0xFFFFFFFF)  # no document has this number

_BASE = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def scatter(
    keys: np.ndarray,
    docs: np.ndarray,
    bounds: np.ndarray,
    salted: bool,
    boundaries: np.ndarray,
    out_keys: np.ndarray,
    out_docs: np.ndarray,
) -> None:
    """Counting sort of (key, document) by the key's low bits, so that each piece's table fits the cache.

    `bounds` has 2^bits + 1 zeros and receives the pieces. With `salted`, the number of the document's dataset is
    hashed into its key: documents of two datasets then share none.
    """
    mask = np.uint64(len(bounds) - 2)
    for key, doc in zip(keys, docs):  # noqa: B905 (numba has no strict)
        bounds[np.int64(salt(key, doc, salted, boundaries) & mask) + 1] += 1
    for i in range(1, len(bounds)):
        bounds[i] += bounds[i - 1]
    places = bounds[:-1].copy()
    for key, doc in zip(keys, docs):  # noqa: B905
        key = salt(key, doc, salted, boundaries)
        piece = np.int64(key & mask)
        place = places[piece]
        places[piece] = place + 1
        out_keys[place] = key
        out_docs[place] = doc


@njit(cache=True, nogil=True, inline="always")
def salt(key: np.uint64, doc: np.uint32, salted: bool, boundaries: np.ndarray) -> np.uint64:
    """The key, or one that differs from dataset to dataset."""
    if salted:
        return finish(key + np.uint64(np.searchsorted(boundaries, doc, side="right")) * _BASE)
    return key


@njit(cache=True, nogil=True)
def stars(
    keys: np.ndarray,
    docs: np.ndarray,
    bounds: np.ndarray,
    mixed_only: bool,
    boundaries: np.ndarray,
    edges: np.ndarray,
) -> int:
    """Links every document of a bucket to the bucket's lowest. Returns the number of edges written.

    With `mixed_only`, only in buckets that hold documents of at least two datasets. `edges` (uint32, two columns) has
    room for one edge per key. An open-addressing table per piece; a bucket takes time linear in its documents.
    """
    largest = 0
    for piece in range(len(bounds) - 1):
        largest = max(largest, bounds[piece + 1] - bounds[piece])
    capacity = table_size(largest)
    slot_keys = np.empty(capacity, np.uint64)
    lowest = np.empty(capacity, np.uint32)
    highest = np.empty(capacity, np.uint32)
    slots = np.empty(largest, np.uint32)
    count = 0
    for piece in range(len(bounds) - 1):
        start = bounds[piece]
        stop = bounds[piece + 1]
        capacity = table_size(stop - start)
        lowest[:capacity] = NOBODY
        for i in range(start, stop):
            slot = find(slot_keys, lowest, capacity, keys[i])
            slots[i - start] = slot
            if lowest[slot] == NOBODY:
                slot_keys[slot] = keys[i]
                lowest[slot] = docs[i]
                highest[slot] = docs[i]
            else:
                lowest[slot] = min(lowest[slot], docs[i])
                highest[slot] = max(highest[slot], docs[i])
        for i in range(start, stop):
            slot = slots[i - start]
            if lowest[slot] != docs[i] and (not mixed_only or mixed(lowest[slot], highest[slot], boundaries)):
                edges[count, 0] = lowest[slot]
                edges[count, 1] = docs[i]
                count += 1
    return count


@njit(cache=True, nogil=True)
def spanning(edges: np.ndarray) -> int:
    """Moves the edges (uint32, two columns, sorted) that close no circle to the front. Returns how many they are."""
    nodes = len(edges)  # each edge's higher end, and the lower ones, which lie side by side
    for i in range(len(edges)):
        nodes += i == 0 or edges[i, 0] != edges[i - 1, 0]
    capacity = table_size(nodes)
    docs = np.full(capacity, NOBODY, np.uint32)
    parents = np.arange(capacity, dtype=np.uint32)
    count = 0
    for i in range(len(edges)):
        a = root(parents, place(docs, capacity, edges[i, 0]))
        b = root(parents, place(docs, capacity, edges[i, 1]))
        if a != b:
            parents[max(a, b)] = min(a, b)
            edges[count] = edges[i]
            count += 1
    return count


@njit(cache=True, nogil=True, inline="always")
def place(docs: np.ndarray, capacity: int, doc: np.uint32) -> np.int64:
    """The slot of a document's number, which is entered where it is missing."""
    slot = np.int64(finish(np.uint64(doc))) & (capacity - 1)
    while docs[slot] != doc and docs[slot] != NOBODY:
        slot = (slot + 1) & (capacity - 1)
    docs[slot] = doc
    return slot


@njit(cache=True, nogil=True)
def table_size(n: int) -> int:
    """A power of two that leaves at least half of the table empty."""
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(cache=True, nogil=True, inline="always")
def find(slot_keys: np.ndarray, lowest: np.ndarray, capacity: int, key: np.uint64) -> np.int64:
    """The slot of a key, or the empty one where it belongs; by bits in which a range and a piece differ."""
    slot = np.int64(key >> np.uint64(24)) & (capacity - 1)
    while lowest[slot] != NOBODY and slot_keys[slot] != key:
        slot = (slot + 1) & (capacity - 1)
    return slot


@njit(cache=True, nogil=True, inline="always")
def mixed(low: np.uint32, high: np.uint32, boundaries: np.ndarray) -> bool:
    """Whether two documents belong to different datasets."""
    return np.searchsorted(boundaries, low, side="right") != np.searchsorted(boundaries, high, side="right")
