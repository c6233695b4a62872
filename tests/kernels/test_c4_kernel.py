import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.automaton import Pattern
from zydaflow.kernels.c4 import count_c4
from zydaflow.kernels.c4_tables import PHRASES, POLICY, c4_tables
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.letters import LOWER, UPPER, cases, lower_letters
from zydaflow.kernels.phrases import build_folded, count_standing

POLICIES = [phrase for phrase, group in PHRASES.items() if group == POLICY]
PIECES = [
    "\n",
    "\r\n",
    "\u2028",
    " ",
    "\u00a0",
    ".",
    "...",
    "?",
    "!",
    '"',
    "'",
    ")",
    "]",
    "}",
    "’",
    "”",
    "»",
    "{",
    "a",
    "B",
]
PIECES += [
    "ß",
    "É",
    "İ",
    "1",
    "Javascript",
    "java\nscript",
    "LOREM ipsum",
    "lorem  ipsum",
    "COO\u212aIE Policy",
    "cookie",
]
PIECES += [*POLICIES, ". a", ". B", '." É', "\u2026", "\u00ab"]
TEXTS = st.lists(
    st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=14).map("".join),
    max_size=4,
)


def sentences(line: str) -> int:
    followers = re.findall(r"""[.?!]["')\]}’”»]*\s+([^\s])""", line)
    return 1 + sum(not (c.islower() or c in ".?!") for c in followers)


def counts_of(text: str) -> list[int]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    low = [line.lower() for line in lines]
    return [
        len(lines),
        sum(line.endswith((".", "?", "!", '"')) and not line.endswith("...") for line in lines),
        sum(map(sentences, lines)),
        text.count("{"),
        text.lower().count("lorem ipsum"),
        sum("javascript" in line for line in low),
        sum(any(phrase in line for phrase in POLICIES) for line in low),
    ]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=600)
def test_each_count_is_its_definition(as_buffers, texts):
    assert count_c4(*as_buffers(texts), c4_tables()).tolist() == [counts_of(text) for text in texts]


WORDS = ["sex", "ex", "sex tape", "x", "été", "ſt", "σας", "ⱥ", "𐐨", "女の子", "a$$"]


def folded(text: str) -> str:
    """Lower case, character by character."""
    return "".join(c if c == "İ" else c.lower().replace("ς", "σ") for c in text)


def standing(text: str) -> int:
    return sum(len(re.findall(rf"(?<!\w)(?={re.escape(folded(word))}(?!\w))", folded(text))) for word in WORDS)


@given(
    st.lists(
        st.lists(st.sampled_from([*WORDS, *"SEXσΣ ςȺ-.İ_é", "ÉTÉ", "𐐀", "ſ"]), max_size=8).map("".join), max_size=4
    )
)
@settings(derandomize=True, deadline=None, max_examples=600)
def test_words_that_stand_alone(as_buffers, texts):
    words = [folded(word) for word in WORDS]
    automaton = build_folded([Pattern(word.encode(), 0) for word in words])
    lengths = np.array([len(word) for word in words])
    counts = count_standing(*as_buffers(texts), automaton, lengths, lower_letters(), character_classes())
    assert counts.tolist() == [standing(text) for text in texts]


def test_tables_are_what_python_says():
    letters, bits = lower_letters().tolist(), cases().tolist()
    assert [c for c in range(0x110000) if chr(letters[c]) != folded(chr(c))] == []
    assert [c for c in range(0x110000) if bool(bits[c] & LOWER) != chr(c).islower()] == []
    assert [c for c in range(0x110000) if bool(bits[c] & UPPER) != chr(c).isupper()] == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_are_found_as_in_lower_case_text_by_python(phrase):
    """No other character than a capital, and the Kelvin sign, has a lower case that a phrase could be made of."""
    found = {c for c in map(chr, range(0x80, 0x110000)) if set(c.lower()) <= set(phrase)}
    assert found <= {"\u212a"}
