import re
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels import characters
from zydaflow.kernels.characters import blank, character_classes, count_classes, count_runs, count_words

PUNCTUATION = set(string.punctuation) | set(map(chr, [*range(0x2018, 0x2020), *range(0x2010, 0x2016)]))
# Characters that are something else after NFC or lower case, compose with their neighbours, or separate.
TRICKY = "\u037e\u1fef\u0387\u2000\u2001\u212a\u0130\u0338\u0301\u0300\u0345=<>`;\u00b4\u2260\u1112\u1161\u11ab\u0958"
SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
CHARACTERS = st.one_of(st.sampled_from(TRICKY + SPACES + "aß9_²٣-'’—.\\/"), st.characters(exclude_categories=["Cs"]))
TEXTS = st.lists(st.text(CHARACTERS), max_size=4)


def words_of(text: str) -> int:
    normal = unicodedata.normalize("NFC", text).lower()
    return len("".join(c for c in normal if c not in PUNCTUATION).split())


def classes_of(text: str) -> list[int]:
    patterns = (r"[\s\S]", r"[\s\-/\\.]", r"[^\w\s]", r"\d")
    return [len(re.findall(pattern, text)) for pattern in patterns]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=400)
def test_words(as_buffers, texts):
    assert count_words(*as_buffers(texts), character_classes()).tolist() == [words_of(text) for text in texts]


def test_words_around_every_character(as_buffers):
    """Each character between letters, after a space, and alone: kept, white space, or deleted, nothing else."""
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn"]
    texts = [f"a{chr(c)}a {chr(c)} {chr(c)}a" for c in points]
    counts = count_words(*as_buffers(texts), character_classes()).tolist()
    assert [hex(c) for c, text, count in zip(points, texts, counts, strict=True) if count != words_of(text)] == []


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_classes(as_buffers, texts):
    assert count_classes(*as_buffers(texts), character_classes()).tolist() == [classes_of(text) for text in texts]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_blank(as_buffers, texts):
    assert blank(as_buffers(texts)).tolist() == [not text.strip() for text in texts]


@given(st.lists(st.tuples(CHARACTERS, st.integers(1, 15)), max_size=6))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_runs(as_buffers, runs):
    text = "".join(character * length for character, length in runs)
    twin = len(re.findall(r"(\w)\1{6,}", text))
    assert count_runs(*as_buffers([text, text]), character_classes()).tolist() == [twin, twin]


def test_a_run_does_not_cross_documents(as_buffers):
    assert count_runs(*as_buffers(["aaaa", "aaaa", "aaaaaaa"]), character_classes()).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("bit", "holds"),
    [
        (characters.WORD, lambda c: bool(re.match(r"\w", c))),
        (characters.SPACE, str.isspace),
        (characters.DIGIT, str.isdecimal),
        (characters.LETTER, str.isalpha),
    ],
)
def test_table_is_what_python_says(bit, holds):
    wrong = [c for c, bits in enumerate(character_classes().tolist()) if bool(bits & bit) != holds(chr(c))]
    assert wrong == []
