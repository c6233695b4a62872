"""The decision inside clusters: who stays, and for whom the others go.

Documents are taken in keeper order. A bucket lists those of its documents that stay, in that order; it knows which of
them are of the dataset that is being worked on ("own") and which of earlier ones ("before"). Only documents that stay
are listed, and no list is read beyond the limit: n documents cost O(n · bands · limit).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.buckets import (
    BEFORE,
    HEAD,
    NEXT,
    NONE,
    OWN,
    OWN_HEAD,
    RANK,
    Buckets,
    Keys,
    Room,
    clear_lists,
    join,
    number_buckets,
    turn,
)
from zydaflow.kernels.check import LIMIT_MET, Check, alike
from zydaflow.kernels.matches import match_datasets

STAYS, EXACT, WITHIN, ACROSS = range(4)
"""What becomes of a document."""


class Powers(NamedTuple):
    """By dataset, bool each: whether its documents go as …"""

    within: np.ndarray  # near-duplicates of one of their own
    across: np.ndarray  # near-duplicates of one of another dataset
    loses: np.ndarray  # duplicates of any kind
    to_others: np.ndarray  # equals of one of another dataset
    is_index: np.ndarray  # it is an index, to which all datasets lose that lose at all


@njit(cache=True, nogil=True)
def keep_greedily(
    order: np.ndarray,
    offsets: np.ndarray,
    dataset: np.ndarray,
    keys: Keys,
    powers: Powers,
    limit: int,
    check: Check,
    room: Room,
    seen: np.ndarray,
    kept: np.ndarray,
    outcome: np.ndarray,
    counts: np.ndarray,
    matched: np.ndarray,
) -> None:
    """Decides every cluster, and tells for each document in which datasets there is one that is alike.

    Args:
        order: int64 (m,), members cluster by cluster in keeper order: indexes first, a dataset's side by side.
        offsets: int64 (c + 1,), the clusters in `order`.
        dataset: int32 (m,), the dataset of each member.
        keys: what brings members together.
        powers: what may happen to the documents of each dataset.
        limit: how many staying documents are compared with, per band and pass.
        check: the verification.
        room, seen: for the largest cluster; int32 (n,).
        kept: int64 (m,), out: the member for which each member goes, −1 where it stays.
        outcome: uint8 (m,), out: STAYS, EXACT, WITHIN or ACROSS.
        counts: int64 (c, 2), zeros, out: lookups (document, band, pass) in which more than `limit` documents stayed;
            comparisons of signatures that were doubtful.
        matched: bool (m, datasets), zeros, out: see `match_datasets`.
    """
    ignored = np.zeros(2, np.int64)
    for cluster in range(len(offsets) - 1):
        members = order[offsets[cluster] : offsets[cluster + 1]]
        buckets = number_buckets(keys, members, room)
        keep_of_cluster(dataset, keys, members, powers, limit, check, buckets, seen, kept, outcome, counts[cluster])
        match_datasets(dataset, keys, members, check, buckets, kept, ignored, matched)


@njit(cache=True, nogil=True)
def keep_of_cluster(
    dataset: np.ndarray,
    keys: Keys,
    members: np.ndarray,
    powers: Powers,
    limit: int,
    check: Check,
    buckets: Buckets,
    seen: np.ndarray,
    kept: np.ndarray,
    outcome: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Decides one cluster, whose buckets are numbered."""
    clear_lists(buckets)
    seen[: len(members)] = NONE
    indexed = 0
    while indexed < len(members) and powers.is_index[dataset[members[indexed]]]:
        indexed += 1
    for rank in range(len(members)):
        member = members[rank]
        own = dataset[member]
        turn(buckets, rank, own)
        best = NONE
        if powers.loses[own]:
            if keys.exact.shape[1] > 0:
                best = first_equal(keys, buckets, members, rank, rank if powers.to_others[own] else indexed)
            outcome[member] = EXACT
        if best == NONE and powers.loses[own]:
            end = rank if powers.across[own] else indexed
            counts[LIMIT_MET] += exceeding(buckets, rank, keys.bands, powers.within[own], end > 0, limit)
            if powers.within[own]:
                best = first_alike(keys, buckets, OWN_HEAD, OWN, limit, members, rank, rank, seen, check, counts)
                outcome[member] = WITHIN
            if best == NONE and end > 0:
                best = first_alike(keys, buckets, HEAD, BEFORE, limit, members, rank, end, seen, check, counts)
                outcome[member] = ACROSS
        if best == NONE:
            kept[member] = NONE
            outcome[member] = STAYS
            join(buckets, rank, keys.bands, limit)
        else:
            kept[member] = members[best]


@njit(cache=True, nogil=True, inline="always")
def exceeding(buckets: Buckets, rank: int, bands: int, within: bool, across: bool, limit: int) -> int:
    """How many of the lists in which the document is looked for have more staying documents than are compared."""
    count = 0
    for number in buckets.numbers[:bands, rank]:
        if number != NONE:
            count += within and buckets.rows[number, OWN] > limit
            count += across and buckets.rows[number, BEFORE] > limit
    return count


@njit(cache=True, nogil=True, inline="always")
def first_equal(keys: Keys, buckets: Buckets, members: np.ndarray, rank: int, end: int) -> int:
    """The lowest rank of a staying document with an equal exact value, of its own dataset or below `end`; or NONE."""
    best = NONE
    for column in range(keys.exact.shape[1]):
        number = buckets.numbers[keys.bands + column, rank]
        if number == NONE:
            continue
        for head in (HEAD, OWN_HEAD):
            entry = buckets.rows[number, head]
            stop = end if head == HEAD else rank
            while entry != NONE:
                other = buckets.entries[entry, RANK]
                if other >= stop or (best != NONE and other >= best):
                    break
                if keys.exact[members[other], column, 1] == keys.exact[members[rank], column, 1]:
                    best = other
                    break
                entry = buckets.entries[entry, NEXT]
    return best


@njit(cache=True, nogil=True, inline="always")
def first_alike(
    keys: Keys,
    buckets: Buckets,
    head: int,
    size: int,
    limit: int,
    members: np.ndarray,
    rank: int,
    end: int,
    seen: np.ndarray,
    check: Check,
    counts: np.ndarray,
) -> int:
    """The lowest rank, below `end`, among the listed documents that are alike to the one of `rank`, or NONE."""
    best = NONE
    for number in buckets.numbers[: keys.bands, rank]:
        if number == NONE:
            continue
        entry = buckets.rows[number, head]
        for _ in range(min(limit, buckets.rows[number, size])):
            other = buckets.entries[entry, RANK]
            if other >= end or (best != NONE and other >= best):
                break
            if seen[other] != rank:
                seen[other] = rank
                if alike(keys.signatures, members[rank], members[other], check, counts):
                    best = other
            entry = buckets.entries[entry, NEXT]
    return best
