"""Without verification: of documents that keys link, by whatever chain, the first in keeper order stays."""

import numpy as np
from numba import njit

from zydaflow.kernels.buckets import HEAD, NONE, Keys, Room, clear_lists, number_buckets
from zydaflow.kernels.greedy import ACROSS, STAYS, WITHIN, Powers
from zydaflow.kernels.unionfind import root


@njit(cache=True, nogil=True)
def keep_first(
    order: np.ndarray,
    offsets: np.ndarray,
    dataset: np.ndarray,
    keys: Keys,
    powers: Powers,
    room: Room,
    parents: np.ndarray,
    kept: np.ndarray,
    outcome: np.ndarray,
) -> None:
    """Decides every cluster; takes what `keep_greedily` takes, and `parents`, uint32, room for the largest cluster.

    Components of documents that share a whole key: candidates were found by part of it, and nothing else checks them.
    """
    for cluster in range(len(offsets) - 1):
        members = order[offsets[cluster] : offsets[cluster + 1]]
        buckets = number_buckets(keys, members, room)
        clear_lists(buckets)
        for rank in range(len(members)):
            parents[rank] = rank
            for number in buckets.numbers[:, rank]:
                if number != NONE and buckets.rows[number, HEAD] == NONE:
                    buckets.rows[number, HEAD] = rank
                elif number != NONE:
                    a, b = root(parents, np.uint32(buckets.rows[number, HEAD])), root(parents, np.uint32(rank))
                    parents[max(a, b)] = min(a, b)
        for rank in range(len(members)):
            member, best = members[rank], members[root(parents, np.uint32(rank))]
            if best == member or not powers.loses[dataset[member]]:
                kept[member] = NONE
                outcome[member] = STAYS
            else:
                kept[member] = best
                outcome[member] = WITHIN if dataset[best] == dataset[member] else ACROSS
