"""Union-find over document numbers. The root of a set is its lowest member, whatever the order of the unions."""

import numpy as np
from numba import njit

ALONE = np.uint32(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def separate(parents: np.ndarray) -> None:
    """Makes every node a set of its own."""
    for node in range(len(parents)):
        parents[node] = node


@njit(cache=True, nogil=True, inline="always")
def root(parents: np.ndarray, node: int | np.integer) -> int | np.integer:
    """The lowest member of the node's set; halves the path on the way (Tarjan and van Leeuwen, 1984)."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@njit(cache=True, nogil=True)
def unite(parents: np.ndarray, edges: np.ndarray) -> None:
    """Joins the two ends of every edge (k, 2)."""
    for i in range(len(edges)):
        a = root(parents, edges[i, 0])
        b = root(parents, edges[i, 1])
        if a < b:
            parents[b] = a
        else:
            parents[a] = b


@njit(cache=True, nogil=True)
def flatten(parents: np.ndarray, sizes: np.ndarray) -> tuple[int, int]:
    """Points nodes at their roots, and counts each root's set in `sizes`. Returns (sets of at least 2, their nodes)."""
    sizes[:] = 0
    sets = 0
    nodes = 0
    for node in range(len(parents)):
        top = parents[parents[node]]  # a parent is lower than its node, so it is flat already
        parents[node] = top
        sizes[top] += 1
        if sizes[top] == 2:
            sets += 1
            nodes += 2
        elif sizes[top] > 2:
            nodes += 1
    return sets, nodes


@njit(cache=True, nogil=True)
def collect(parents: np.ndarray, sizes: np.ndarray, offsets: np.ndarray, members: np.ndarray) -> None:
    """Writes the sets of at least two, by root and then by node. `sizes` is used up."""
    found = 0
    offsets[0] = 0
    for node in range(len(parents)):
        if parents[node] == node:
            size = sizes[node]
            sizes[node] = ALONE
            if size > 1:
                sizes[node] = offsets[found]
                offsets[found + 1] = offsets[found] + size
                found += 1
        place = sizes[parents[node]]
        if place != ALONE:
            members[place] = node
            sizes[parents[node]] = place + np.uint32(1)
