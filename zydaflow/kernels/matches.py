"""In which datasets a document has one that is alike, whoever of them stays."""

import numpy as np
from numba import njit

from zydaflow.kernels.buckets import NEXT, NONE, RANK, Buckets, Keys
from zydaflow.kernels.check import Check, alike

FIRST = 8  # documents of each dataset, per bucket, that later ones are compared with

LAST, DATASET, COUNT = range(3)
"""Columns of a bucket's list: its last entry; the dataset of the last document; how many entries are of that one."""


@njit(cache=True, nogil=True)
def match_datasets(
    dataset: np.ndarray,
    keys: Keys,
    members: np.ndarray,
    check: Check,
    buckets: Buckets,
    kept: np.ndarray,
    counts: np.ndarray,
    matched: np.ndarray,
) -> None:
    """matched[i, d] (bool, zeros before): whether a document of dataset d shares a key with member i and is alike.

    For one cluster, whose buckets are numbered and whose documents are decided. Besides a document and the one that it
    goes for, pairs are compared of which the earlier one is among the first of its dataset in a bucket of the later
    one, unless both are matched with the other's dataset already. Column by column, since a large cluster's buckets lie
    far apart, and in one function, since passing arrays on costs as much as a comparison.
    """
    for member in members:
        if kept[member] >= 0:
            matched[member, dataset[kept[member]]] = True
            matched[kept[member], dataset[member]] = True
    if len(members) == 2 and kept[members[1]] >= 0:
        return
    numbers, rows, entries = buckets.numbers, buckets.rows, buckets.entries
    for column in range(len(numbers)):
        for number in range(buckets.bounds[column], buckets.bounds[column + 1]):
            rows[number, LAST] = NONE
            rows[number, DATASET] = NONE
        used = 0
        value = column - keys.bands
        for rank in range(len(members)):
            number = numbers[column, rank]
            if number == NONE:
                continue
            member = members[rank]
            own = dataset[member]
            entry = rows[number, LAST]
            while entry != NONE:
                other = members[entries[entry, RANK]]
                entry = entries[entry, NEXT]
                if matched[member, dataset[other]] and matched[other, own]:
                    continue
                if value < 0:
                    equal = alike(keys.signatures, member, other, check, counts)
                else:
                    equal = keys.exact[other, value, 1] == keys.exact[member, value, 1]
                if equal:
                    matched[member, dataset[other]] = True
                    matched[other, own] = True
            if rows[number, DATASET] != own:
                rows[number, DATASET] = own
                rows[number, COUNT] = 0
            if rows[number, COUNT] < FIRST:
                rows[number, COUNT] += 1
                entries[used, RANK] = rank
                entries[used, NEXT] = rows[number, LAST]
                rows[number, LAST] = used
                used += 1
