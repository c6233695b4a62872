import re
import string
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.decompose import GROWTH, decomposition
from zydaflow.kernels.frequencies import count_distinct
from zydaflow.kernels.pieces import cases, count_pieces
from zydaflow.kernels.rpv2lines import count_lines_of_web
from zydaflow.signals.rpv2 import CONSTANTS
from zydaflow.signals.rpv2_words import normal_form

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SPECIAL = "a B Σ σα İ é e\u0301 \u0345 \u0f73 ΐ 가 ǅ K \u037e ≠ ß ³ ½ \u200b . ... … ! ? # { } - _ ' • – ” 7 參"
SPACES = [" ", "\n", "\u00a0"]
MIXED = st.lists(st.sampled_from([*SPECIAL.split(), *SPACES, "javascript", "Java-Script", "java"]), max_size=25).map(
    "".join
)
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    folded = text.translate(NO_PUNCTUATION).lower().strip()
    return unicodedata.normalize("NFD", re.sub(r"\s+", " ", folded))


@given(st.lists(ANY | MIXED, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_normal_form(as_buffers, texts):
    data, bounds = normal_form(as_buffers(texts))
    assert [data[a:b].tobytes().decode() for a, b in pairwise(bounds)] == [normalised(text) for text in texts]


def test_long_documents_are_normalised_in_pieces(as_buffers):
    text = "ΟΔΟΣ. a\u0327\u0301é " * 150_000
    data, bounds = normal_form(as_buffers([text]))
    assert data[: bounds[1]].tobytes().decode() == normalised(text)


def test_every_character(as_buffers):
    everything = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    texts = [" x".join(everything[i : i + 4000]) for i in range(0, len(everything), 4000)]
    data, bounds = normal_form(as_buffers(texts))
    assert [data[a:b].tobytes().decode() for a, b in pairwise(bounds)] == [normalised(text) for text in texts]
    for character in everything[0x80:]:
        assert len(normalised(character).encode()) <= GROWTH * len(character.encode())


def pieces_of(text: str) -> list[int]:
    pieces = re.findall(r"\w+|[^\w\s]+", text)
    return [
        len(text),
        sum(map(str.isupper, text)),
        text.count("{") + text.count("}"),
        text.count("#") + text.count("...") + text.count("…"),
        len(pieces),
        sum(bool(re.search("[a-zA-Z]", piece)) for piece in pieces),
        sum(map(str.isupper, pieces)),
        len(re.findall(r"\b[^.!?]+[.!?]*", text)),
    ]


@given(st.lists(ANY | MIXED, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_pieces(as_buffers, texts):
    counts = count_pieces(*as_buffers(texts), character_classes(), cases())
    assert counts.tolist() == [pieces_of(text) for text in texts]


def lines_of(text: str) -> list[int]:
    lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
    normal = [normalised(line) for line in lines]
    return [
        len(lines),
        sum(line.rstrip().endswith((".", "!", "?", "”")) for line in lines),
        sum(line.rstrip().endswith(("...", "…")) for line in lines),
        sum(line.lstrip().startswith(tuple("•‣▶◀◦■□▪▫–")) for line in lines),
        sum("javascript" in line.split() for line in normal),
        sum(len(line.split()) for line in normal),
        sum(len(line) - line.count(" ") for line in normal),
        sum(line.count(" ") for line in normal),
        sum(sum(map(str.isnumeric, line)) for line in normal),
    ]


@given(st.lists(ANY | MIXED, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_lines(as_buffers, texts):
    counts = count_lines_of_web(*as_buffers(texts), decomposition(), CONSTANTS)
    assert counts.tolist() == [lines_of(text) for text in texts]


@given(st.lists(st.lists(st.integers(0, 4), max_size=12), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_distinct(values):
    bounds = np.cumsum([0, *map(len, values)])
    flat = np.array([value for each in values for value in each], np.uint64)
    distinct, entropy = count_distinct(flat, bounds)
    assert distinct.tolist() == [len(set(each)) for each in values]
    for each, nats in zip(values, entropy, strict=True):
        shares = np.array([each.count(value) / len(each) for value in set(each)])
        assert nats == pytest.approx(-(shares * np.log(shares)).sum() if each else 0, abs=1e-12)
