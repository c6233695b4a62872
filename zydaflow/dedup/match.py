"""Matching: which documents share a band key."""

from typing import Literal

import numpy as np

from zydaflow.kernels.forest import scatter, spanning, stars

Link = Literal["within", "across", "all"]

_PIECE = 1 << 13  # keys whose table fits the second-level cache


def forest(keys: np.ndarray, docs: np.ndarray, link: Link, boundaries: np.ndarray) -> np.ndarray:
    """Edges that connect the documents sharing a key, at most n − 1 for n connected documents.

    Time is linear in the keys, however many documents share one. Memory beside the input: 12 bytes per key, and up to
    60 for each key that another document has too. The result does not depend on the order of the input.

    Args:
        keys: uint64 (m,), the keys of one range from all shards.
        docs: uint32 (m,), the document of each, numbered in canonical order: dataset after dataset.
        link: `within` links documents of one dataset, `across` those of keys that several datasets share, `all` both.
        boundaries: the number of each dataset's first document, in order; the first is 0.

    Returns:
        uint32 (k, 2), the lower document first, sorted.
    """
    docs = docs.astype(np.uint32, copy=False)
    boundaries = boundaries.astype(np.uint32, copy=False)
    bounds = np.zeros((1 << max(0, (len(keys) // _PIECE).bit_length())) + 1, np.int64)
    piece_keys, piece_docs = np.empty_like(keys), np.empty_like(docs)
    scatter(keys, docs, bounds, link == "within", boundaries, piece_keys, piece_docs)
    edges = np.empty((len(keys), 2), np.uint32)
    count = stars(piece_keys, piece_docs, bounds, link == "across", boundaries, edges)
    edges = _in_order(edges[:count])
    return edges[: spanning(edges)].copy()


def _in_order(edges: np.ndarray) -> np.ndarray:
    """The edges by lower and then by higher document, which makes the choice among them independent of the input's."""
    packed = np.sort(edges[:, 0].astype(np.uint64) << np.uint64(32) | edges[:, 1])
    return np.stack([packed >> np.uint64(32), packed & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
