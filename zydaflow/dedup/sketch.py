"""Texts → MinHash signatures, bit for bit datasketch's."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow.dedup.normalise import prepare, tables
from zydaflow.dedup.shingles import Shingle
from zydaflow.kernels.minhash import sign
from zydaflow.kernels.shingles import powers


class Sketch(NamedTuple):
    """n documents, reduced to what similarity is estimated from."""

    signatures: np.ndarray  # uint32 (n, permutations), C-contiguous; 2^32 − 1 throughout for a document without words
    n_words: np.ndarray  # int64 (n,): words of the normal form; a document with none is compared with nothing


@cache
def permutations(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """a and b of datasketch's permutations a·h + b mod 2^32: uint32 (count,) each."""
    from datasketch import MinHash  # which takes a while

    a, b = MinHash(count, seed, scheme="affine32").permutations
    return a.copy(), b.copy()


def sketch(texts: pa.LargeStringArray, shingle: Shingle, count: int = 128, seed: int = 1) -> Sketch:
    """The signatures of n texts with `count` permutations.

    They equal `datasketch.MinHash(count, seed, scheme="affine32", hashfunc=shingle_hash32)` updated with every
    shingle of the text. Beside the texts and the result this needs memory for 5/3 of the longest text. The signal
    `n_words` differs from this one for word shingles: it parts words by spaces in all scripts.
    """
    text = prepare(texts)
    signatures = np.full((len(text), count), 0xFFFFFFFF, np.uint32)
    n_words = np.zeros(len(text), np.int64)
    a, b = permutations(count, seed)
    by_word = shingle.unit == "word"
    letters = tables().letters(by_word)
    sign(text.data, text.offsets, letters, powers(), by_word, shingle.size, a, b, signatures, n_words)
    return Sketch(signatures, n_words)
