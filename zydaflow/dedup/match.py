"""Matching: which documents share a band key."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from zydaflow.dedup.bands import ROW_BITS
from zydaflow.dedup.clusters import runs
from zydaflow.kernels.forest import count, scatter, stars

Link = Literal["within", "across", "all"]

BYTES_PER_KEY = 28
"""Memory for matching: 12 for the key and its document, 8 for its edge, and 8 for that of the keys before."""

_PIECE = 1 << 13  # keys whose table fits the second-level cache


class Block(NamedTuple):
    """Keys of one range from one shard."""

    packed: np.ndarray  # uint64 (m,), as in a KeyTable
    first: int  # the document of row 0


class Edges(NamedTuple):
    """Pairs of documents that share a key, in some order, and how many documents share one key at most."""

    documents: np.ndarray  # uint32 (k, 2), the lower document first
    largest: int


def forest(
    blocks: Sequence[Block], link: Link, boundaries: np.ndarray, memory: int, empty: Callable[..., np.ndarray]
) -> Iterator[Edges]:
    """Edges that connect the documents sharing a key of one range: n − 1 for n of them, from the lowest to the others.

    Time is linear in the keys, however many documents share one. They are cut by their first bits into pieces whose
    tables fit the cache, and as many pieces are matched at a time as take `memory` bytes at `BYTES_PER_KEY` bytes per
    key; every step reads all blocks. Only a piece in which very many documents share a key can take more.

    Args:
        blocks: the range's keys from all shards. Documents are numbered in canonical order: dataset after dataset.
        link: `within` links documents of one dataset, `across` those of keys that several datasets share, `all` both.
        boundaries: the number of each dataset's first document, in order; the first is 0.
        memory: bytes, for one step.
        empty: makes the arrays, as `np.empty` does from shape and dtype.
    """
    shift, bounds = _pieces(blocks)
    starts = boundaries.astype(np.uint32)
    for run in runs(bounds, memory // BYTES_PER_KEY):
        yield _step(blocks, shift, run.start, bounds[run.start : run.stop + 1], link, starts, empty)


def _pieces(blocks: Sequence[Block]) -> tuple[np.uint64, np.ndarray]:
    """By which bits the keys are cut, those above the first number, and where each piece begins and ends."""
    bits = max(1, (sum(len(block.packed) for block in blocks) // _PIECE).bit_length())
    shift, sizes = np.uint64(64 - bits), np.zeros(1 << bits, np.int64)
    for block in blocks:
        count(block.packed, shift, sizes)
    return shift, np.append(0, np.cumsum(sizes))


def _step(
    blocks: Sequence[Block],
    shift: np.uint64,
    start: int,
    bounds: np.ndarray,
    link: Link,
    starts: np.ndarray,
    empty: Callable[..., np.ndarray],
) -> Edges:
    """The edges of the pieces start, start + 1, …, which lie at `bounds`."""
    bounds = bounds - bounds[0]
    keys, docs, edges = empty(bounds[-1], np.uint64), empty(bounds[-1], np.uint32), empty((bounds[-1], 2), np.uint32)
    places = bounds[:-1].copy()
    for packed, first in blocks:
        scatter(packed, np.uint32(first), np.uint64(ROW_BITS), shift, start, places, keys, docs)
    written, largest = stars(keys, docs, bounds, link == "within", link == "across", starts, edges)
    return Edges(edges[:written], largest)
