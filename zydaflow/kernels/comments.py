"""Comments in source code, by the little of a language's grammar that finds them."""

from typing import NamedTuple

import numpy as np
from numba import njit

NEWLINE, BACKSLASH = ord("\n"), ord("\\")
CODE, STRING, LONG_STRING, DOCUMENTATION, BLOCK, LINE = range(6)  # what a byte is part of; the last three are comments

COMMENT_CHARACTERS, CHARACTERS, COMMENT_LINES, LINES = range(4)
"""Columns of `count_comments`."""


class Syntax(NamedTuple):
    """How comments and strings begin and end: ASCII, as uint8; an empty marker begins nothing."""

    line: np.ndarray  # begins a comment that ends with its line
    apart: bool  # whether that marker counts only at the start of a line or after white space
    opening: np.ndarray  # of a comment that ends with `closing`
    closing: np.ndarray
    quotes: np.ndarray  # bool[256]: begin and end a string, which ends with its line at the latest
    long_quotes: np.ndarray  # bool[256]: begin and end a string of any number of lines
    triple: bool  # whether three quotes begin and end such a string, too, which is a comment if it begins its line
    marks: np.ndarray  # bool[6, 256]: what may begin or end something, by what it is part of


def syntax(
    line: str = "",
    opening: str = "",
    closing: str = "",
    quotes: str = "",
    long_quotes: str = "",
    apart: bool = False,
    triple: bool = False,
) -> Syntax:
    """A syntax from text."""
    markers = [np.array(list(marker.encode()), np.uint8) for marker in (line, opening, closing)]
    both = np.zeros((2, 256), bool)
    both[0, list(quotes.encode())] = True
    both[1, list(long_quotes.encode())] = True
    marks = np.zeros((6, 256), bool)
    marks[:, NEWLINE] = True
    marks[CODE, [marker[0] for marker in markers[:2] if len(marker)]] = True
    marks[CODE : DOCUMENTATION + 1] |= both[0] | both[1]
    marks[STRING : DOCUMENTATION + 1, BACKSLASH] = True
    marks[BLOCK, markers[2][:1]] = True
    return Syntax(markers[0], apart, markers[1], markers[2], both[0], both[1], triple, marks)


@njit(cache=True, nogil=True, inline="always")
def _at(data: np.ndarray, at: int, stop: int, marker: np.ndarray) -> bool:
    """Whether the marker, which is not empty, stands at data[at]."""
    if len(marker) == 0 or at + len(marker) > stop or data[at] != marker[0]:
        return False
    same = True
    for i in range(1, len(marker)):
        same &= data[at + i] == marker[i]
    return same


@njit(cache=True, nogil=True, inline="always")
def _blank(byte: int) -> bool:
    return byte == 0x20 or 0x09 <= byte <= 0x0D


@njit(cache=True, nogil=True, inline="always")
def _tripled(data: np.ndarray, at: int, stop: int) -> bool:
    return at + 2 < stop and data[at + 1] == data[at] and data[at + 2] == data[at]


@njit(cache=True, nogil=True)
def _begin(data: np.ndarray, start: int, at: int, stop: int, first: bool, syntax: Syntax) -> tuple[int, int]:
    """What begins at data[at], which is code, and the bytes that begin it; CODE, 1 if nothing does.

    `first` says that only white space stands before it in its line.
    """
    byte = data[at]
    if _at(data, at, stop, syntax.line) and (not syntax.apart or at == start or _blank(data[at - 1])):
        return LINE, len(syntax.line)
    if _at(data, at, stop, syntax.opening):
        return BLOCK, len(syntax.opening)
    if syntax.triple and syntax.quotes[byte] and _tripled(data, at, stop):
        return DOCUMENTATION if first else LONG_STRING, 3
    if syntax.long_quotes[byte]:
        return LONG_STRING, 1
    return (STRING, 1) if syntax.quotes[byte] else (CODE, 1)


@njit(cache=True, nogil=True)
def _ends(data: np.ndarray, at: int, stop: int, state: int, quote: np.uint8, syntax: Syntax) -> int:
    """The bytes of what ends the state, which is not CODE, at data[at]; 0 if nothing does."""
    if state == BLOCK:
        return len(syntax.closing) if _at(data, at, stop, syntax.closing) else 0
    if data[at] != quote or state == LINE:
        return 0
    if syntax.triple and state != STRING:
        return 3 if _tripled(data, at, stop) else 0
    return 1


@njit(cache=True, nogil=True)
def _step(
    data: np.ndarray, start: int, at: int, stop: int, state: int, quote: np.uint8, first: bool, syntax: Syntax
) -> tuple:
    """What data[at] is part of, the state after it, the quote that ends that, and how many bytes these are."""
    if state == CODE:
        state, size = _begin(data, start, at, stop, first, syntax)
        return state, state, data[at], size
    if data[at] == BACKSLASH and STRING <= state <= DOCUMENTATION:
        return state, state, quote, 2 if at + 1 < stop and data[at + 1] != NEWLINE else 1
    closed = _ends(data, at, stop, state, quote, syntax)
    return (state, CODE, quote, closed) if closed else (state, state, quote, 1)


@njit(cache=True, nogil=True)
def _count(data: np.ndarray, start: int, stop: int, syntax: Syntax, count: np.ndarray) -> None:
    """Counts one document; see `count_comments`."""
    state, quote, at = CODE, np.uint8(0), start
    marks = syntax.marks
    code = comment = False  # whether the line has some
    characters = commented = 0
    while at < stop:
        byte, size, after = data[at], 1, state
        if marks[state, byte] and byte != NEWLINE:
            state, after, quote, size = _step(data, start, at, stop, state, quote, not (code or comment), syntax)
        for place in range(at, at + size):
            lead, filled = (data[place] & 0xC0) != 0x80, not _blank(data[place])
            characters += lead
            commented += lead and state >= DOCUMENTATION
            comment |= filled and state >= DOCUMENTATION
            code |= filled and state < DOCUMENTATION
        at += size
        state = after
        if byte == NEWLINE or at == stop:
            count[COMMENT_LINES] += comment and not code
            count[LINES] += comment or code
            code = comment = False
        if byte == NEWLINE and state in (LINE, STRING):
            commented -= state == LINE
            state = CODE
    count[CHARACTERS], count[COMMENT_CHARACTERS] = characters, commented


@njit(cache=True, nogil=True)
def count_comments(data: np.ndarray, offsets: np.ndarray, syntax: Syntax) -> np.ndarray:
    """Per document: characters in comments, all characters, lines of comments alone, lines not blank: int64[n, 4].

    Lines end with a newline; a backslash in a string or in documentation takes the next byte with it.
    """
    counts = np.zeros((len(offsets) - 1, 4), np.int64)
    for document in range(len(counts)):
        _count(data, offsets[document], offsets[document + 1], syntax, counts[document])
    return counts
