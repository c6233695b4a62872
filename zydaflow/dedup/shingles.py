"""Shingles: their hash, as a public function of their bytes, and the sets of them that texts are.

They are cut from the normal form (`normalise.py`), in which each character of a script that is written without spaces
is a word of its own if shingles are of words.
"""

from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from zydaflow.dedup.normalise import prepare, tables
from zydaflow.kernels.shingles import BASE, MIX_1, MIX_2, powers
from zydaflow.kernels.shinglesets import fill_sets, most

_64_BITS = (1 << 64) - 1


class Shingle(Protocol):
    """The pieces of a text that two documents are compared by."""

    @property
    def unit(self) -> str: ...  # "word" or "character", of the normalised text

    @property
    def size(self) -> int: ...  # how many of them make a shingle; a text with fewer is one shingle


class ShingleSets(NamedTuple):
    """n sets of 64-bit hashes: set i is hashes[starts[i]:stops[i]], sorted; empty for a text without words."""

    hashes: np.ndarray  # uint64
    starts: np.ndarray  # int64 (n,)
    stops: np.ndarray  # int64 (n,)


def shingle_hash(shingle: bytes) -> int:
    """The 64-bit hash of a shingle: words joined by single spaces, or characters of the normalised text, as UTF-8.

    The polynomial of (byte + 1) with BASE mod 2^64, finished by MurmurHash3's 64-bit finaliser.
    """
    h = 0
    for byte in shingle:
        h = (h * BASE + byte + 1) & _64_BITS
    h = (h ^ h >> 33) * MIX_1 & _64_BITS
    h = (h ^ h >> 33) * MIX_2 & _64_BITS
    return h ^ h >> 33


def shingle_hash32(shingle: bytes) -> int:
    """`shingle_hash` folded to 32 bits: the `hashfunc` with which datasketch gives the signatures of this package."""
    h = shingle_hash(shingle)
    return (h ^ h >> 32) & 0xFFFFFFFF


def shingle_sets(texts: pa.LargeStringArray, shingle: Shingle) -> ShingleSets:
    """The set of shingles of each of n texts. Memory: 4 bytes per byte of text for words, 8 for characters."""
    text = prepare(texts)
    by_word = shingle.unit == "word"
    hashes = np.empty(most(text.offsets, by_word), np.uint64)
    offsets = np.zeros(len(text) + 1, np.int64)
    fill_sets(text.data, text.offsets, tables().letters(by_word), powers(), by_word, shingle.size, hashes, offsets)
    return ShingleSets(hashes[: offsets[-1]].copy(), offsets[:-1], offsets[1:])
