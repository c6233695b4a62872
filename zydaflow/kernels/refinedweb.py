"""RefinedWeb's corrections of lines (arXiv 2306.01116, appendix G.2). A line is what is between two newlines."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.characters import DIGIT, SPACE, WORD, character_classes
from zydaflow.kernels.letters import UPPER, cases
from zydaflow.kernels.lines import NEWLINE, newline_after, strip
from zydaflow.kernels.utf8 import code_point

SHORT = 10  # words of a line that phrases are taken out of, at most
ANYWHERE, END, START = 0, 1, 2  # where in a line a phrase is taken out: its row of PHRASES
PHRASES = (b"items in cart", b"read more...", b"sign-in")
COUNTED = [
    word + plural
    for word in b"bookmark comment download downvote follower like quote reply repost retweet share upvote view".split()
    for plural in (b"", b"s")
] + [b"replies"]

_END_BYTES = len(PHRASES[END])
_POINTS = (ord("."), ord(","))
_SCALES = (ord("k"), ord("m"), ord("b"))


class Tables(NamedTuple):
    """What the kernel looks characters and phrases up in; phrases are ASCII in lower case, with a zero after each."""

    classes: np.ndarray  # uint8 by code point, of `characters`
    cases: np.ndarray  # uint8 by code point, of `letters`
    phrases: np.ndarray  # uint8 (3, m): PHRASES
    counted: np.ndarray  # uint8 (k, m): COUNTED


@cache
def refinedweb_tables() -> Tables:
    """The tables, by this Python's Unicode version."""
    return Tables(character_classes(), cases(), _rows(PHRASES), _rows(COUNTED))


def _rows(phrases: tuple[bytes, ...] | list[bytes]) -> np.ndarray:
    rows = np.zeros((len(phrases), max(map(len, phrases)) + 1), np.uint8)
    for row, phrase in zip(rows, phrases, strict=True):
        row[: len(phrase)] = [*phrase]
    return rows


@njit(cache=True, nogil=True)
def _small(byte: np.integer) -> np.integer:
    """The byte, a capital as its small letter."""
    return byte + 32 if 65 <= byte <= 90 else byte


@njit(cache=True, nogil=True)
def _match(text: np.ndarray, at: int, end: int, phrase: np.ndarray) -> int:
    """The bytes of the phrase, if it stands at text[at] and ends by text[end]; else 0."""
    same = 0
    while phrase[same] and at + same < end and _small(text[at + same]) == phrase[same]:
        same += 1
    return 0 if phrase[same] else same


@njit(cache=True, nogil=True)
def _past(text: np.ndarray, at: int, end: int, classes: np.ndarray, bit: int, those: bool) -> int:
    """Past the characters from text[at] on that have the bit of a class, or those that do not have it."""
    while at < end:
        point, width = code_point(text, at)
        if (classes[point] & bit != 0) != those:
            break
        at += width
    return at


@njit(cache=True, nogil=True)
def _is_counter(text: np.ndarray, start: int, end: int, classes: np.ndarray, counted: np.ndarray) -> bool:
    """Whether the line is a number and what it counts, like "1.5K likes", with no other word characters around."""
    at = number = _past(text, start, end, classes, WORD, False)
    digits = _past(text, at, end, classes, DIGIT, True)
    while digits > at or (number < at < end and text[at] in _POINTS):
        at = max(digits, at + 1)
        digits = _past(text, at, end, classes, DIGIT, True)
    if at == number:
        return False
    if at < end and _small(text[at]) in _SCALES:
        at += 1
    word = _past(text, at, end, classes, SPACE, True)
    if word == at:
        return False
    for name in counted:
        length = _match(text, word, end, name)
        if length and _past(text, word + length, end, classes, WORD, False) == end:
            return True
    return False


@njit(cache=True, nogil=True)
def _read(text: np.ndarray, start: int, end: int, classes: np.ndarray, cases: np.ndarray) -> tuple[int, bool]:
    """The words of a line, and whether it is mainly capitals (over half of its characters) or nothing but digits."""
    words = characters = capitals = others = 0
    gap = True
    while start < end:
        point, width = code_point(text, start)
        start += width
        space = classes[point] & SPACE != 0
        words += gap and not space
        gap = space
        characters += 1
        capitals += cases[point] & UPPER != 0
        others += not (space or classes[point] & DIGIT)
    return words, 2 * capitals > characters or others == 0


@njit(cache=True, nogil=True)
def _edit(
    text: np.ndarray, start: int, end: int, classes: np.ndarray, phrases: np.ndarray, out: np.ndarray, at: int
) -> int:
    """Writes text[start:end] without the phrases, and without white space at its ends, to out[at:]: where it ends."""
    last = at
    while start < end:
        length = _match(text, start, end, phrases[ANYWHERE])
        if length:
            last = strip(out, at, last, classes)[1]
            start += length
        else:
            out[last] = text[start]
            last += 1
            start += 1
    first, last = strip(out, at, last, classes)
    if last - first >= _END_BYTES and _match(out, last - _END_BYTES, last, phrases[END]):
        last = strip(out, first, last - _END_BYTES, classes)[1]
    length = _match(out, first, last, phrases[START])
    if length:
        first = strip(out, first + length, last, classes)[0]
    for k in range(last - first):
        out[at + k] = out[first + k]
    return at + last - first


@njit(cache=True, nogil=True)
def correct(
    data: np.ndarray, offsets: np.ndarray, tables: Tables, out: np.ndarray, out_offsets: np.ndarray
) -> np.ndarray:
    """Writes the lines of each document that stay to `out`, a newline between them; fills in `out_offsets`.

    Blank lines stay. Others go if, white space at their ends aside, over half of their characters are capitals, or all
    of them digits or white space, or they are a counter, or one word. PHRASES are taken out of lines of at most SHORT
    words, with the white space that parts them from the rest of the line; a line of which nothing is left goes too.
    `out` has room for all of the input. Returns per document its words as of str.split(), and those in lines that go
    or are edited: int64[n, 2].
    """
    classes, cases, phrases, counted = tables.classes, tables.cases, tables.phrases, tables.counted
    counts = np.zeros((len(offsets) - 1, 2), np.int64)
    to = out_offsets[0] = 0
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        start, kept = 0, 0
        while start <= len(text):
            end = newline_after(text, start)
            first, last = strip(text, start, end, classes)
            line = after = to + (kept > 0)
            goes = edited = False
            if first < last:
                words, goes = _read(text, first, last, classes, cases)
                goes = goes or words == 1 or _is_counter(text, first, last, classes, counted)
                if not goes and words <= SHORT:
                    after = _edit(text, first, last, classes, phrases, out, line)
                    edited, goes = after - line < last - first, after == line
                counts[document, 0] += words
                counts[document, 1] += words if goes or edited else 0
            if not goes:
                if not edited:
                    out[line : line + end - start] = text[start:end]
                    after = line + end - start
                if kept:
                    out[to] = NEWLINE
                kept += 1
                to = after
            start = end + 1
        out_offsets[document + 1] = to
    return counts
