import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.code import count_kinds, count_lines, first_characters, first_lines
from zydaflow.kernels.comments import count_comments
from zydaflow.kernels.encoded import ROLES, count_encoded
from zydaflow.signals.code_comments import SYNTAXES

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ENDS = st.lists(
    st.sampled_from(["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\u2027", "é", "ab"]),
    max_size=15,
).map("".join)


@given(st.lists(ANY | st.text("aZ_0٣é! \n", max_size=20), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_kinds(as_buffers, texts):
    assert count_kinds(*as_buffers(texts), character_classes()).tolist() == [
        [
            len(text),
            sum(map(str.isalpha, text)),
            sum(map(str.isalnum, text)),
            len(re.findall(r"\d", text)),
            len(re.findall(r"\w+|[^\w\s]+", text)),
        ]
        for text in texts
    ]


@given(st.lists(ANY | ENDS, max_size=3))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_lines(as_buffers, texts):
    lines = [[len(line) for line in text.splitlines()] for text in texts]
    assert count_lines(*as_buffers(texts), 2).tolist() == [
        [len(each), sum(each), max(each, default=0), sum(length > 2 for length in each)] for each in lines
    ]


@given(st.lists(st.text("a\né😀", max_size=12), max_size=3), st.integers(1, 4))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_heads(as_buffers, texts, size):
    text = as_buffers(texts)
    for ends, twin in (
        (first_lines(*text, size), lambda t: "\n".join(t.split("\n")[:size])),
        (first_characters(*text, size), lambda t: t[:size]),
    ):
        heads = [text.data[start:end].tobytes().decode() for start, end in zip(text.offsets[:-1], ends, strict=True)]
        assert heads == [twin(t) for t in texts]


BASE64 = re.compile(r"[a-zA-Z0-9+/\n=]{64,}")
BYTES = re.compile(r"(?:\b(?:0x|\\x)?[0-9a-fA-F]{2}(?:,|\b\s*)){8,}")
ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}){8,}")
UNITS = st.sampled_from(
    [
        "0x4F,",
        "0xa1 ",
        "\\x41",
        "\\u00e9",
        "41 ",
        "fF,",
        "7 ",
        "g",
        "é",
        "\u00a0",
        "\u2003",
        "=\n",
        "0x",
        ",",
        "\\",
        "a+/",
    ]
)


@given(st.lists(st.lists(st.tuples(UNITS, st.integers(1, 30)), max_size=6), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_encoded(as_buffers, runs):
    texts = ["".join(unit * times for unit, times in run) for run in runs]
    expected = []
    for text in texts:
        lengths = [[len(match[0]) for match in pattern.finditer(text)] for pattern in (BASE64, BYTES, ESCAPES)]
        expected.append([value for each in lengths for value in (sum(each), max(each, default=0))])
    assert count_encoded(*as_buffers(texts), ROLES, character_classes()).tolist() == expected


STRINGS = r"(?P<string>'(?:\\[^\n]|[^'\n])*'?|\"(?:\\[^\n]|[^\"\n])*\"?)"
LONG = r"(?P<long>`(?:\\[^\n]|[^`])*`?)"
TRIPLE = r"(?P<triple>'''(?:\\[^\n]|(?!''')[\s\S])*(?:'''|\Z)|\"\"\"(?:\\[^\n]|(?!\"\"\")[\s\S])*(?:\"\"\"|\Z))"
BLOCKS = r"(?P<comment>/\*[\s\S]*?(?:\*/|\Z))"
TWINS = {
    "python": rf"(?P<line>#[^\n]*)|{TRIPLE}|{STRINGS}",
    "c": rf"(?P<line>//[^\n]*)|{BLOCKS}|{LONG}|{STRINGS}",
    "shell": rf"(?P<line>(?:(?<=[ \t\n\v\f\r])|(?<![\s\S]))\#[^\n]*)|{STRINGS}",
    "sql": rf"(?P<line>--[^\n]*)|{BLOCKS}|{STRINGS}",
    "html": r"(?P<comment><!--[\s\S]*?(?:-->|\Z))",
}


def comments_of(text: str, language: str) -> list[int]:
    marks = [" "] * len(text)
    for match in re.finditer(TWINS[language], text):
        before = text[: match.start()].rpartition("\n")[2]
        documentation = match.lastgroup == "triple" and not before.strip(" \t\v\f\r")
        if match.lastgroup in ("line", "comment") or documentation:
            marks[match.start() : match.end()] = "#" * len(match[0])
    lines = comment_lines = at = 0
    for line in text.split("\n"):
        filled = {mark for c, mark in zip(line, marks[at : at + len(line)], strict=True) if c not in " \t\v\f\r"}
        lines += bool(filled)
        comment_lines += filled == {"#"}
        at += len(line) + 1
    return [marks.count("#"), len(text), comment_lines, lines]


CODE = st.sampled_from(
    [
        "#",
        "//",
        "/*",
        "*/",
        "--",
        "-",
        "<!--",
        "-->",
        "'",
        '"',
        "'''",
        '"""',
        "`",
        "\\",
        "\n",
        "\n",
        " ",
        "\t",
        "a",
        "é",
    ]
)


@pytest.mark.parametrize("language", SYNTAXES)
def test_comments(as_buffers, language):
    @given(st.lists(st.lists(CODE, max_size=25).map("".join), max_size=3))
    @settings(derandomize=True, deadline=None, max_examples=700)
    def check(texts):
        counts = count_comments(*as_buffers(texts), SYNTAXES[language])
        assert counts.tolist() == [comments_of(text, language) for text in texts]

    check()
