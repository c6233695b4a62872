import re

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes, count_visible
from zydaflow.kernels.duplicates import count_duplicate_lines, count_duplicate_paragraphs
from zydaflow.kernels.fineweb import count_fineweb_lines, count_newlines
from zydaflow.kernels.lines import breaks, count_marked_lines, count_marked_newlines, line_end, newline_after
from zydaflow.signals.fineweb import _marks

# Breaks of lines, white space that breaks none, and what begins with the same bytes as either.
PIECES = ["\n", "\n\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PIECES += [
    " ",
    "\t",
    "\x1f",
    "\u00a0",
    "\u3000",
    "\u200b",
    "a",
    "é",
    "\u2026",
    "…",
    "...",
    ".",
    "•",
    "-",
    "*",
    '"',
    "'",
]
PIECES += ["!", "?", "。", "？", "।", "Â", "\u2022", "ab ab", "0123456789abcdef", "x" * 29, "😀"]
TEXTS = st.lists(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.characters(exclude_categories=["Cs"]))), max_size=12).map(
        "".join
    ),
    max_size=4,
)


def copies(pieces: list[str]) -> list[str]:
    return [piece for at, piece in enumerate(pieces) if piece in pieces[:at]]


def characters(pieces: list[str]) -> int:
    return sum(map(len, pieces))


def marked_lines(text: str) -> list[int]:
    lines = [line.strip() for line in text.splitlines()]
    bullets, ellipses = [s.startswith(("•", "-")) for s in lines], [s.endswith(("...", "…")) for s in lines]
    return [len(lines), sum(bullets), sum(ellipses)]


def marked_newlines(text: str) -> list[int]:
    lines = text.split("\n")
    return [len(lines), sum(s.startswith(("*", "-")) for s in lines), sum(s.endswith("…") for s in lines)]


def duplicate_lines(text: str) -> list[int]:
    lines = text.split("\n")
    filled = [line for line in lines if line]
    every = [line for line in filled if filled.count(line) > 1]
    at_ends = [text.startswith("\n"), text.endswith("\n")]
    blank = [line for line in copies(filled) if not line.strip()]
    return [
        len(lines),
        len(lines) - len(filled),
        sum(at_ends),
        len(copies(filled)),
        characters(copies(filled)),
        len(every),
        characters(every),
        characters(blank),
    ]


def duplicate_paragraphs(text: str) -> list[int]:
    joined = re.split("\n{2,}", text.strip())
    return [len(joined), len(copies(joined)), characters(copies(joined))]


def fineweb_lines(text: str) -> list[int]:
    lines = [line for line in text.split("\n") if line.strip()]
    marked = [line for line in lines if line[-1] in ".?!\"'"]
    short = [line for line in lines if len(line) <= 30]
    terminated = [line for line in lines if regex.fullmatch(r"\p{STerm}", line[-1])]
    return [len(lines), len(marked), len(terminated), len(short), text.count("\n"), len(text.split())]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=400)
def test_each_count_is_its_definition(as_buffers, texts):
    buffers, classes = as_buffers(texts), character_classes()
    assert count_marked_lines(*buffers, breaks(), classes).tolist() == [marked_lines(text) for text in texts]
    assert count_marked_newlines(*buffers).tolist() == [marked_newlines(text) for text in texts]
    assert count_duplicate_lines(*buffers, classes).tolist() == [duplicate_lines(text) for text in texts]
    assert count_duplicate_paragraphs(*buffers, classes).tolist() == [duplicate_paragraphs(text) for text in texts]
    assert count_fineweb_lines(*buffers, classes, _marks()).tolist() == [fineweb_lines(text) for text in texts]
    assert count_newlines(*buffers).tolist() == [text.count("\n") for text in texts]
    assert count_visible(*buffers, classes).tolist() == [characters(text.split()) for text in texts]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_lines_are_those_of_python(as_buffers, texts):
    for text in texts:
        data = as_buffers([text]).data[as_buffers([text]).offsets[0] :]
        lines, at = [], 0
        while at < len(data):
            end, following = line_end(data, at, breaks())
            lines.append(data[at:end].tobytes().decode())
            at = following
        assert lines == text.splitlines()


@pytest.mark.parametrize("before", range(40))
@pytest.mark.parametrize("after", [0, 1, 15, 16, 17, 33])
def test_newline_at_every_place_of_a_block(as_buffers, before, after):
    data, (start, stop) = as_buffers(["x" * before + "\n" + "y" * after])
    assert newline_after(data[start:stop], 0) == before
    assert newline_after(data[start:stop], before + 1) == before + 1 + after


@pytest.mark.parametrize("count", [31, 32, 33, 127, 128, 129, 5000])
def test_many_different_lines(as_buffers, count):
    """The table of lines grows; what it knew is found again."""
    lines = [f"line {number}" for number in range(count)]
    text = "\n".join(lines + lines[::-1])
    counts = count_duplicate_lines(*as_buffers([text, "line 1"]), character_classes()).tolist()
    length = characters(lines)
    assert counts == [[2 * count, 0, 0, count, length, 2 * count, 2 * length, 0], [1, 0, 0, 0, 0, 0, 0, 0]]
    paragraphs = count_duplicate_paragraphs(*as_buffers([text.replace("\n", "\n\n")]), character_classes())
    assert paragraphs.tolist() == [[2 * count, count, length]]


@pytest.mark.parametrize("length", range(1, 35))
def test_lines_that_differ_in_one_byte_are_different(as_buffers, length):
    whole = "abcdefghijklmnopqrstuvwxyz0123456789"[:length]
    lines = [whole, *(whole[:at] + "_" + whole[at + 1 :] for at in range(length)), whole + whole[-1:], whole + "\x00"]
    assert count_duplicate_lines(*as_buffers(["\n".join(lines)]), character_classes())[0, 3] == 0


def test_marks_are_all_that_unicode_names():
    characters = "".join(map(chr, range(0x110000)))
    assert [*map(chr, _marks().nonzero()[0])] == regex.findall(r"[\p{STerm}.?!\"']", characters)
