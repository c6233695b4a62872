"""Clusters: the connected components of documents that share bands."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from zydaflow.kernels.unionfind import collect, flatten, separate, unite


class Clusters(NamedTuple):
    """Documents with at least one candidate, cluster after cluster."""

    members: np.ndarray  # uint32 (m,): document numbers, ascending in a cluster; clusters by their first document
    offsets: np.ndarray  # int64 (c + 1,): cluster i is members[offsets[i]:offsets[i + 1]], at least two documents

    def part(self, numbers: range) -> "Clusters":
        """The clusters of those numbers (a step of 1), without a copy of their members."""
        offsets = self.offsets[numbers.start : numbers.stop + 1]
        return Clusters(self.members[offsets[0] : offsets[-1]], offsets - offsets[0])


def components(edge_chunks: Iterable[np.ndarray], n_docs: int, empty: Callable[..., np.ndarray] = np.empty) -> Clusters:
    """The connected components of at least two documents.

    Memory: 8 bytes per document of the corpus, 4 per member, 8 per component, and one chunk. The result does not
    depend on the order of chunks or edges.

    Args:
        edge_chunks: uint32 (k, 2) each, document numbers below `n_docs`.
        n_docs: documents in all, below 2^32 − 1.
        empty: makes the arrays, as `np.empty` does from shape and dtype.

    Raises:
        ValueError: more documents than that.
    """
    if n_docs >= 2**32 - 1:
        raise ValueError(f"{n_docs:,} documents: numbers of documents have 32 bits")
    parents = empty(n_docs, np.uint32)
    separate(parents)
    for edges in edge_chunks:
        unite(parents, edges)
    sizes = empty(n_docs, np.uint32)
    n_clusters, n_members = flatten(parents, sizes)
    clusters = Clusters(empty(n_members, np.uint32), empty(n_clusters + 1, np.int64))
    collect(parents, sizes, clusters.offsets, clusters.members)
    return clusters


def runs(offsets: np.ndarray, most: int) -> list[range]:
    """Cuts what lies at the offsets, one after the other, into runs of at most `most`, or of one that is larger."""
    found = []
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        found.append(range(start, stop))
        start = stop
    return found
