"""The decision inside clusters: who stays, and for whom the others go.

Documents are taken in keeper order. A bucket (one band key) lists those of its documents that stay, in that order; it
knows which of them are of the dataset that is being worked on ("own") and which of earlier ones ("before"). Only
documents that stay enter buckets, and no list is read beyond the limit: n documents cost O(n · bands · limit).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.jaccard import sets_alike, signatures_alike

NONE = -1

HEAD, OWN_HEAD, TAIL, BEFORE, OWN, DATASET, LOW, HIGH = range(8)
"""Columns of a bucket: its first entry, the first of its own dataset, the last; how many documents of earlier datasets
and of its own stay (those beyond the limit too, which have no entry); its own dataset; the halves of its key."""

RANK, NEXT = range(2)
"""Columns of an entry: the document's rank in its cluster's keeper order; the next entry of the bucket."""


class Buckets(NamedTuple):
    """The buckets of the cluster at hand, found by their key through open addressing."""

    numbers: np.ndarray  # int32, by slot: the row in `rows`, or NONE
    rows: np.ndarray  # int32 (n, 8): half a line of the cache
    entries: np.ndarray  # int32 (n, 2)
    used: np.ndarray  # int64 (3,): slots in use by this cluster (a power of two), rows, entries


class Check(NamedTuple):
    """How two members are verified to be alike."""

    exact: bool  # by their sets of shingles, else by their signatures
    signatures: np.ndarray  # uint32 (m, permutations)
    least: int  # in how many values two alike signatures agree
    hashes: np.ndarray  # uint64: the sets, sorted
    offsets: np.ndarray  # int64 (m + 1,)
    numerator: int  # of the threshold for the Jaccard of two sets
    denominator: int


@njit(cache=True, nogil=True)
def keep_greedily(
    order: np.ndarray,
    offsets: np.ndarray,
    dataset: np.ndarray,
    keys: np.ndarray,
    within: bool,
    across: bool,
    limit: int,
    check: Check,
    kept: np.ndarray,
    limit_met: np.ndarray,
) -> None:
    """Decides every cluster.

    Args:
        order: int64 (m,), members cluster by cluster in keeper order, the documents of a dataset side by side.
        offsets: int64 (c + 1,), the clusters in `order`.
        dataset: int32 (m,), the dataset of each member.
        keys: uint64 (m, bands), the band keys of each member.
        within, across: the passes that run.
        limit: how many staying documents are compared with, per bucket and pass.
        check: the verification.
        kept: int64 (m,), out: the member for which each member goes, −1 where it stays.
        limit_met: int64 (c,), zeros, out: lookups (document, band, pass) in which more than `limit` documents stayed.
    """
    largest = 0
    for cluster in range(len(offsets) - 1):
        largest = max(largest, offsets[cluster + 1] - offsets[cluster])
    buckets = allocate(largest * keys.shape[1])
    seen = np.empty(largest, np.int32)  # the rank of the last document that was compared with this one
    found = np.empty(keys.shape[1], np.int32)
    for cluster in range(len(offsets) - 1):
        members = order[offsets[cluster] : offsets[cluster + 1]]
        seen[: len(members)] = NONE
        clear(buckets, len(members) * keys.shape[1])
        for rank in range(len(members)):
            member = members[rank]
            look_up(buckets, keys, member, dataset[member], found)
            limit_met[cluster] += exceeding(buckets, found, within, across, limit)
            best = NONE
            if within:
                best = first_alike(buckets, found, OWN_HEAD, OWN, limit, members, rank, seen, check)
            if across and best == NONE:
                best = first_alike(buckets, found, HEAD, BEFORE, limit, members, rank, seen, check)
            kept[member] = members[best] if best != NONE else NONE
            if best == NONE:
                join(buckets, keys, member, dataset[member], rank, limit)


@njit(cache=True, nogil=True)
def allocate(n: int) -> Buckets:
    """Room for clusters that have at most n band keys."""
    rows = np.empty((n, 8), np.int32)
    entries = np.empty((n, 2), np.int32)
    return Buckets(np.empty(table_size(n), np.int32), rows, entries, np.zeros(3, np.int64))


@njit(cache=True, nogil=True)
def table_size(n: int) -> int:
    """A power of two that leaves at least a quarter of the table empty."""
    size = 16
    while 3 * size < 4 * n:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def clear(buckets: Buckets, n: int) -> None:
    """Empties the buckets for a cluster of n keys; a small cluster then touches little memory."""
    slots = table_size(n)
    buckets.numbers[:slots] = NONE
    buckets.used[0] = slots
    buckets.used[1:] = 0


@njit(cache=True, nogil=True, inline="always")
def find(buckets: Buckets, key: np.uint64) -> int:
    """The slot of a key, or the empty one where it belongs."""
    mask = buckets.used[0] - 1
    slot = np.int64(key >> np.uint64(16)) & mask
    while buckets.numbers[slot] != NONE and not has_key(buckets.rows, buckets.numbers[slot], key):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True, inline="always")
def has_key(rows: np.ndarray, number: int, key: np.uint64) -> bool:
    """Whether the bucket of this number is that of this key."""
    return rows[number, LOW] == np.int32(key) and rows[number, HIGH] == np.int32(key >> np.uint64(32))


@njit(cache=True, nogil=True)
def look_up(buckets: Buckets, keys: np.ndarray, member: int, dataset: int, found: np.ndarray) -> None:
    """Writes the document's buckets to `found` (NONE where nobody stays), turned to its dataset."""
    rows = buckets.rows
    for band in range(len(found)):
        number = buckets.numbers[find(buckets, keys[member, band])]
        found[band] = number
        if number != NONE and rows[number, DATASET] != dataset:
            rows[number, BEFORE] += rows[number, OWN]
            rows[number, OWN] = 0
            rows[number, OWN_HEAD] = NONE
            rows[number, DATASET] = dataset


@njit(cache=True, nogil=True)
def exceeding(buckets: Buckets, found: np.ndarray, within: bool, across: bool, limit: int) -> int:
    """How many of the lists in which the document is looked for have more staying documents than are compared."""
    count = 0
    for number in found:
        if number != NONE:
            count += within and buckets.rows[number, OWN] > limit
            count += across and buckets.rows[number, BEFORE] > limit
    return count


@njit(cache=True, nogil=True)
def first_alike(
    buckets: Buckets,
    found: np.ndarray,
    head: int,
    size: int,
    limit: int,
    members: np.ndarray,
    rank: int,
    seen: np.ndarray,
    check: Check,
) -> int:
    """The lowest rank among the listed documents that are alike to the one of `rank`, or NONE."""
    best = NONE
    for number in found:
        if number == NONE:
            continue
        entry = buckets.rows[number, head]
        for _ in range(min(limit, buckets.rows[number, size])):
            other = buckets.entries[entry, RANK]
            if best != NONE and other >= best:
                break
            if seen[other] != rank:
                seen[other] = rank
                if alike(members[rank], members[other], check):
                    best = other
            entry = buckets.entries[entry, NEXT]
    return best


@njit(cache=True, nogil=True)
def alike(i: int, j: int, check: Check) -> bool:
    """Whether two members are similar."""
    if check.exact:
        return sets_alike(check.hashes, check.offsets, i, j, check.numerator, check.denominator)
    return signatures_alike(check.signatures, i, j, check.least)


@njit(cache=True, nogil=True)
def join(buckets: Buckets, keys: np.ndarray, member: int, dataset: int, rank: int, limit: int) -> None:
    """Enters a staying document in each of its buckets; it is only counted where its dataset's list is full."""
    rows, used = buckets.rows, buckets.used
    for band in range(keys.shape[1]):
        slot = find(buckets, keys[member, band])
        if buckets.numbers[slot] == NONE:
            buckets.numbers[slot] = used[1]
            open_bucket(rows, used[1], keys[member, band], dataset)
            used[1] += 1
        number = buckets.numbers[slot]
        rows[number, OWN] += 1
        if rows[number, OWN] <= limit:
            buckets.entries[used[2], RANK] = rank
            hang(rows, number, buckets.entries, used[2])
            used[2] += 1


@njit(cache=True, nogil=True, inline="always")
def open_bucket(rows: np.ndarray, number: int, key: np.uint64, dataset: int) -> None:
    """An empty bucket."""
    rows[number, HEAD] = NONE
    rows[number, OWN_HEAD] = NONE
    rows[number, BEFORE] = 0
    rows[number, OWN] = 0
    rows[number, DATASET] = dataset
    rows[number, LOW] = np.int32(key)
    rows[number, HIGH] = np.int32(key >> np.uint64(32))


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
