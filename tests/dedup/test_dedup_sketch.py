"""Signatures are datasketch's, bit for bit."""

import numpy as np
import pyarrow as pa
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import Shingle
from twins import TEXTS, shingles, words

from zydaflow.dedup.shingles import shingle_hash32
from zydaflow.dedup.sketch import sketch


def datasketch_signature(text: str, shingle: Shingle, permutations: int, seed: int) -> list[int]:
    minhash = MinHash(permutations, seed, scheme="affine32", hashfunc=shingle_hash32)
    minhash.update_batch([s.encode() for s in shingles(text, shingle.unit, shingle.size)])
    return minhash.hashvalues.tolist()


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(TEXTS, max_size=3),
    st.builds(Shingle, st.sampled_from(["word", "character"]), st.integers(1, 14)),
    st.sampled_from([1, 16, 112, 128, 131]),
    st.sampled_from([1, 2, 2**32 - 1]),
)
def test_signatures_are_datasketchs(texts: list[str], shingle: Shingle, permutations: int, seed: int) -> None:
    made = sketch(pa.array(texts, pa.large_string()), shingle, permutations, seed)
    assert made.signatures.shape == (len(texts), permutations)
    assert made.signatures.dtype == np.uint32
    assert made.signatures.flags.c_contiguous
    assert made.n_words.tolist() == [len(words(text, shingle.unit)) for text in texts]
    for row, text in zip(made.signatures, texts, strict=True):
        assert row.tolist() == datasketch_signature(text, shingle, permutations, seed)


def test_a_text_of_several_blocks() -> None:
    text = " ".join(f"w{i * i % 1009}" for i in range(5000))
    for shingle in (Shingle(), Shingle("character", 25)):
        made = sketch(pa.array([text], pa.large_string()), shingle)
        assert made.signatures[0].tolist() == datasketch_signature(text, shingle, 128, 1)


def test_a_text_without_words_has_the_empty_signature() -> None:
    made = sketch(pa.array(["", " \n", "!!!", "word"], pa.large_string()), Shingle())
    assert made.n_words.tolist() == [0, 0, 0, 1]
    assert (made.signatures[:3] == 0xFFFFFFFF).all()
    assert (made.signatures[3] != 0xFFFFFFFF).all()


def test_one_word_of_megabytes() -> None:
    text = "x" * 3_000_000 + " end"
    made = sketch(pa.array([text], pa.large_string()), Shingle("word", 1))
    minhash = MinHash(128, 1, scheme="affine32", hashvalues=made.signatures[0])
    short = sketch(pa.array(["end"], pa.large_string()), Shingle("word", 1)).signatures[0]
    assert made.n_words[0] == 2
    assert minhash.jaccard(MinHash(128, 1, scheme="affine32", hashvalues=short)) > 0.3
