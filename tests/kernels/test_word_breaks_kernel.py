import re
from functools import cache
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from test_words_kernel import words_in

from zydaflow.kernels.word_breaks import split_by_unicode

LETTERS = {  # one letter per property of UAX #29
    "CR": "c", "LF": "l", "Newline": "n", "Extend": "E", "ZWJ": "Z", "Format": "F", "Katakana": "K", "ALetter": "A",
    "Hebrew_Letter": "H", "Single_Quote": "S", "Double_Quote": "D", "MidNumLet": "M", "MidLetter": "L", "MidNum": "N",
    "Numeric": "9", "ExtendNumLet": "X", "Regional_Indicator": "R", "WSegSpace": "W",
}  # fmt: skip
RULES = [  # what ends left of a place, what begins right of it, where there is no boundary there
    ("[AH]", "[AH]"), ("[AH]", "[LMS][AH]"), ("[AH][LMS]", "[AH]"), ("H", "S"), ("H", "DH"), ("HD", "H"), ("9", "9"),
    ("[AH]", "9"), ("9", "[AH]"), ("9[NMS]", "9"), ("9", "[NMS]9"), ("K", "K"), ("[AH9KX]", "X"), ("X", "[AH9K]"),
    ("(^|[^R])(RR)*R", "R"),
]  # fmt: skip
CHARACTERS = (  # of every property, and letters and numbers of several
    "aZ\u05d0'\".:,19_-\u30ab\u0308\u200d\u00ad "
    "\u3000\r\n\x0b\U0001f1e6\u00a9\u2122\u4e2d\u3042\u0e01\u00b2\uff9e\u24c2"
)


@cache
def letter(character: str) -> str:
    return next((sign for name, sign in LETTERS.items() if regex.match(rf"\p{{WB={name}}}", character)), "O")


def boundary(text: str, signs: str, at: int) -> bool:
    """Whether there is a word boundary at text[at], inside the text, by the rules in the order that UAX #29 has."""
    left, right = signs[:at], signs[at:]
    if left[-1] == "c" and right[0] == "l":
        return False
    if left[-1] in "cln" or right[0] in "cln":
        return True
    if left[-1] == "Z" and regex.match(r"\p{Extended_Pictographic}", text[at]):
        return False
    if left[-1] == right[0] == "W" or right[0] in "EFZ":
        return False
    left, right = (re.sub("([^cln])[EFZ]+", r"\1", side) for side in (left, right))
    return not any(re.search(f"(?:{end})$", left) and re.match(begin, right) for end, begin in RULES)


def twin(text: str) -> list[str]:
    signs = "".join(map(letter, text))
    cuts = [0, *(at for at in range(1, len(text)) if boundary(text, signs, at)), len(text)]
    segments = [text[a:b] for a, b in pairwise(cuts)]
    return [segment for segment in segments if any(map(str.isalnum, segment))]


@given(st.lists(st.text(st.sampled_from(CHARACTERS), max_size=12), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_boundaries(as_buffers, texts):
    text = as_buffers(texts)
    assert words_in(text, split_by_unicode(text)) == list(map(twin, texts))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_any_text(as_buffers, texts):
    text = as_buffers(texts)
    assert words_in(text, split_by_unicode(text)) == list(map(twin, texts))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick (“brown”) fox can’t jump 32.3 feet, right?", "The quick brown fox can’t jump 32.3 feet right"),
        ("3,456.789 1.2.3 a.b a. .5 e.g.", "3,456.789 1.2.3 a.b a 5 e.g"),
        ("snake_case it's 'quoted' 日本 ひら カタカナ", "snake_case it's quoted 日 本 ひ ら カタカナ"),
        ("ab\u0308c x\u00ady א\"ב א' 🇩🇪 😀 ___ -- m\u00b2", "ab\u0308c x\u00ady א\"ב א' m \u00b2"),
    ],
)
def test_sentences(as_buffers, text, words):
    buffers = as_buffers([text])
    assert words_in(buffers, split_by_unicode(buffers)) == [words.split()]


def test_alternating(as_buffers):
    """As many words per byte as there can be."""
    text = as_buffers(["a\u00b2" * 50])
    assert words_in(text, split_by_unicode(text)) == [["a", "\u00b2"] * 50]
