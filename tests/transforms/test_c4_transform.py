import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import transforms

POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
CITATION = re.compile(r"\[\d*\]|\[edit\]|\[citation needed\]")


def is_kept(line: str) -> bool:
    low = line.lower()
    if not line.endswith(tuple('.?!"')) or line.endswith("...") or len(line.split()) < 5:
        return False
    return "lorem ipsum" in low or ("javascript" not in low and ("{" in line or not any(p in low for p in POLICIES)))


def twin(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    short_worded = [line for line in lines if max(map(len, line.split()), default=0) <= 1000]
    return "\n".join(line for line in (CITATION.sub("", line) for line in short_worded) if is_kept(line)).strip()


def c4(texts):
    return transforms.apply(["c4"], pa.array(texts, pa.large_string()))


PIECES = [
    "\n",
    "\r\n",
    "\u2028",
    " ",
    "\u00a0",
    "one two three four five",
    " a b",
    ".",
    ".",
    "...",
    "?",
    "!",
    '"',
    "[1]",
]
PIECES += [
    "[]",
    "[edit]",
    "[citation needed]",
    "[edit",
    "[[٣]",
    "[",
    "]",
    "{",
    "JavaScript",
    "java[1]script",
    "Lorem Ipsum",
]
PIECES += ["use cookies", "x" * 1000, "y", "é" * 600, "é"]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=16).map("".join), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=600)
def test_equals_line_after_line(texts):
    assert c4(["a [1]", *texts])[1:].to_pylist() == [twin(text) for text in texts]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("Five words are enough here.", "Five words are enough here."),
        ("Four words are not.", ""),
        ("This line has no mark at its end", ""),
        ("This line ends with three dots...", ""),
        ("This line ends with one character…", ""),
        ('And he said: "So be it"', 'And he said: "So be it"'),
        ("And he said: 'So be it'", ""),  # datatrove counts the apostrophe too
        ("A mark of a citation [12] goes.", "A mark of a citation  goes."),
        ("Here the mark comes after it.[citation needed]", "Here the mark comes after it."),
        ("Here a space is left after. [1]", ""),  # C4 looks at the end before it strips again
        ("[1] The first line is stripped.", "The first line is stripped."),
        ("Turn on JavaScript to see this.", ""),
        ("By this you accept our Terms of Use.", ""),
        ("Terms of use in a { stay.", "Terms of use in a { stay."),  # the page goes by c4.curly_bracket_count
        ("Lorem ipsum and javascript stay too.", "Lorem ipsum and javascript stay too."),
        ("A javascript with a { goes first.", ""),
        ("One word of this is long: " + "x" * 1000 + ".", ""),
        ("One word of this is long: " + "x" * 999 + ".", "One word of this is long: " + "x" * 999 + "."),
    ],
)
def test_lines(line, left):
    assert c4([line]).to_pylist() == [left]


def test_nothing_to_take_out_is_no_copy():
    texts = pa.array(["Five words are enough here.", None, ""], pa.large_string())
    assert transforms.apply(["c4"], texts) is texts


def test_slices_and_nulls():
    texts = pa.array(["x", None, "Five words are enough here.\nx", "", "y"], pa.large_string())
    assert transforms.apply(["c4"], texts[1:]).to_pylist() == [None, "Five words are enough here.", "", ""]


def test_carriage_returns_become_newlines():
    text = "Five words are enough here.\rFive words are enough here."
    assert c4([text]).to_pylist() == [text.replace("\r", "\n")]
