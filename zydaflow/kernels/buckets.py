"""Buckets: the documents of a cluster that share a key, by number; and lists of some of them, in keeper order."""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.bandkeys import NO_KEY, band_key

NONE = -1
FEW = 48  # documents up to which comparing all keys is faster than a table

HEAD, OWN_HEAD, TAIL, BEFORE, OWN, DATASET = range(6)
"""Columns of a bucket's list: its first entry, the first of its own dataset, the last; how many documents of earlier
datasets and of its own belong to it (those beyond the limit too, which have no entry); its own dataset."""

RANK, NEXT = range(2)
"""Columns of an entry: the document's rank in its cluster's keeper order; the next entry of the bucket."""


class Keys(NamedTuple):
    """What the m documents are brought together by: `bands` columns, and a column per exact value."""

    signatures: np.ndarray  # uint32 (m, permutations)
    bands: int
    rows: int
    exact: np.ndarray  # uint64 (m, e, 2): hashes of 128 bits, 0 for no value


class Room(NamedTuple):
    """Room for the buckets of one cluster of up to n documents, k columns."""

    keys: np.ndarray  # uint64 (n · k,)
    slots: np.ndarray  # int32 (`table_size` of n,): a table of the first document with each key of a column, or NONE
    numbers: np.ndarray  # int32 (n · k,)
    rows: np.ndarray  # int32 (n · k / 2, 6): a list per bucket
    entries: np.ndarray  # int32 (n · k, 2)


class Buckets(NamedTuple):
    """The buckets of one cluster of n documents."""

    numbers: np.ndarray  # int32 (k, n): of each key, by rank; NONE for a key that no other document has
    bounds: np.ndarray  # int64 (k + 1,): those of column i are bounds[i] … bounds[i + 1] - 1
    rows: np.ndarray
    entries: np.ndarray
    used: np.ndarray  # int64 (1,): entries


@njit(cache=True, nogil=True)
def table_size(n: int) -> int:
    """A power of two that leaves at least a quarter of the table empty."""
    size = 16
    while 3 * size < 4 * n:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def number_buckets(keys: Keys, members: np.ndarray, room: Room) -> Buckets:
    """Numbers the buckets of a cluster, whose documents are given in keeper order. Linear in their keys."""
    n, k = len(members), keys.bands + keys.exact.shape[1]
    bounds = np.zeros(k + 1, np.int64)
    columns = room.keys[: n * k].reshape((k, n))
    numbers = room.numbers[: n * k].reshape((k, n))
    fill_columns(keys, members, columns)
    for column in range(k):
        if n <= FEW:
            bounds[column + 1] = number_few(columns[column], numbers[column], bounds[column])
        else:
            slots = room.slots[: table_size(n)]
            bounds[column + 1] = number_many(columns[column], numbers[column], bounds[column], slots)
    return Buckets(numbers, bounds, room.rows, room.entries, np.zeros(1, np.int64))


@njit(cache=True, nogil=True)
def fill_columns(keys: Keys, members: np.ndarray, columns: np.ndarray) -> None:
    """The keys of a cluster, column by column: of the bands, and the exact values.

    Document by document, since those of a large cluster lie far apart.
    """
    for rank in range(len(members)):
        for band in range(keys.bands):
            columns[band, rank] = band_key(keys.signatures, members[rank], band, keys.rows)
        for value in range(keys.exact.shape[1]):
            columns[keys.bands + value, rank] = keys.exact[members[rank], value, 0]


@njit(cache=True, nogil=True)
def number_few(keys: np.ndarray, numbers: np.ndarray, used: int) -> int:
    """Numbers the buckets of one column by comparing each key with all before it. Returns how many are numbered."""
    for rank in range(len(keys)):
        first = rank
        for earlier in range(rank):
            first = min(first, earlier if keys[earlier] == keys[rank] else rank)
        used = share(numbers, first if keys[rank] != NO_KEY else rank, rank, used)
    return used


@njit(cache=True, nogil=True)
def number_many(keys: np.ndarray, numbers: np.ndarray, used: int, slots: np.ndarray) -> int:
    """The same through a table with open addressing of the first document with each key."""
    slots[:] = NONE
    mask = len(slots) - 1
    for rank in range(len(keys)):
        first = rank
        if keys[rank] != NO_KEY:
            slot = np.int64(keys[rank] >> np.uint64(16)) & mask
            while slots[slot] != NONE and keys[slots[slot]] != keys[rank]:
                slot = (slot + 1) & mask
            if slots[slot] == NONE:
                slots[slot] = rank
            first = slots[slot]
        used = share(numbers, first, rank, used)
    return used


@njit(cache=True, nogil=True, inline="always")
def share(numbers: np.ndarray, first: int, rank: int, used: int) -> int:
    """Gives a document the number of its key's bucket, which the second one with that key opens."""
    if first == rank:
        numbers[rank] = NONE
        return used
    if numbers[first] == NONE:
        numbers[first] = used
        used += 1
    numbers[rank] = numbers[first]
    return used


@njit(cache=True, nogil=True)
def clear_lists(buckets: Buckets) -> None:
    """Empties the lists of all buckets."""
    for number in range(buckets.bounds[-1]):
        buckets.rows[number, HEAD] = NONE
        buckets.rows[number, OWN_HEAD] = NONE
        buckets.rows[number, BEFORE] = 0
        buckets.rows[number, OWN] = 0
        buckets.rows[number, DATASET] = NONE


@njit(cache=True, nogil=True)
def turn(buckets: Buckets, rank: int, dataset: int) -> None:
    """Makes this dataset the own one in the lists of the document's buckets."""
    rows = buckets.rows
    for number in buckets.numbers[:, rank]:
        if number != NONE and rows[number, DATASET] != dataset:
            rows[number, BEFORE] += rows[number, OWN]
            rows[number, OWN] = 0
            rows[number, OWN_HEAD] = NONE
            rows[number, DATASET] = dataset


@njit(cache=True, nogil=True)
def join(buckets: Buckets, rank: int, bands: int, limit: int) -> None:
    """Enters a document in the lists of its buckets; in bands it is only counted where its dataset has `limit`."""
    rows, used = buckets.rows, buckets.used
    for column in range(len(buckets.numbers)):
        number = buckets.numbers[column, rank]
        if number != NONE:
            rows[number, OWN] += 1
            if rows[number, OWN] <= limit or column >= bands:
                buckets.entries[used[0], RANK] = rank
                hang(rows, number, buckets.entries, used[0])
                used[0] += 1


@njit(cache=True, nogil=True, inline="always")
def hang(rows: np.ndarray, number: int, entries: np.ndarray, entry: int) -> None:
    """Appends an entry to the bucket's list."""
    entries[entry, NEXT] = NONE
    if rows[number, HEAD] == NONE:
        rows[number, HEAD] = entry
    else:
        entries[rows[number, TAIL], NEXT] = entry
    if rows[number, OWN_HEAD] == NONE:
        rows[number, OWN_HEAD] = entry
    rows[number, TAIL] = entry
