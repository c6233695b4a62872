import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.scripts import SPACELESS
from zydaflow.kernels.words import hash_words, split, split_by_script

SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
APART = re.compile("([" + "".join(f"{chr(first)}-{chr(last)}" for first, last in SPACELESS) + "])")
CHARACTERS = st.one_of(
    st.sampled_from(SPACES + "\u200b\ufeffÂaßг…’。、中カธ가\u0e31\U00020000\U0001f600"),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.lists(st.text(CHARACTERS), max_size=4)


def words_in(text, words):
    """The words of each document, as strings."""
    documents = []
    for i, start in enumerate(text.offsets[:-1]):
        spans = words.spans[words.bounds[i] : words.bounds[i + 1]]
        documents.append([bytes(text.data[start + a : start + b]).decode() for a, b in spans])
    return documents


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_words_between_white_space(as_buffers, texts):
    text = as_buffers(texts)
    assert words_in(text, split(text)) == [document.split() for document in texts]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_words_by_script(as_buffers, texts):
    text = as_buffers(texts)
    assert words_in(text, split_by_script(text)) == [APART.sub(r" \1 ", document).split() for document in texts]


@pytest.mark.parametrize("splitter", [split, split_by_script])
def test_every_character(as_buffers, splitter):
    """Each code point between letters and at the ends of a text."""
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    texts = [f"{chr(c)}a{chr(c)}b" for c in points]
    texts.append("".join(map(chr, points)))
    expected = [APART.sub(r" \1 ", t).split() if splitter is split_by_script else t.split() for t in texts]
    text = as_buffers(texts)
    assert words_in(text, splitter(text)) == expected


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_hashes_tell_words_apart(as_buffers, texts):
    text = as_buffers(texts)
    words = split(text)
    hashes, lengths = hash_words(*text, words)
    strings = [word for document in texts for word in document.split()]
    assert lengths.tolist() == list(map(len, strings))
    assert len(set(zip(hashes.tolist(), strings, strict=True))) == len(set(strings)) == len(set(hashes.tolist()))


def test_no_documents(as_buffers):
    words = split(as_buffers([]))
    assert words.bounds.tolist() == [0]
    assert words.spans.shape == (0, 2)
    assert words.spans.dtype == np.int32
