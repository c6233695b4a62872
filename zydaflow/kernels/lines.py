"""Lines: where they end, what is left of them without white space, what they begin and end with."""

from functools import cache

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE
from zydaflow.kernels.utf8 import code_point, code_point_before

NEWLINE = 10
BREAK, LEAD = 1, 2  # kinds of bytes: a line break by itself; the first byte of U+0085, U+2028 and U+2029, and of others

BLOCK = 16  # bytes that are looked through together, by vector instructions

_CR = 13
_DOT = ord(".")
_DASH = ord("-")
_STAR = ord("*")
_BULLET = 0x2022
_ELLIPSIS = 0x2026


@cache
def breaks() -> np.ndarray:
    """The kind of every byte, as uint8[256], by which `break_width` finds where str.splitlines() splits."""
    kinds = np.zeros(256, np.uint8)
    kinds[[10, 11, 12, 13, 28, 29, 30]] = BREAK
    kinds[[0xC2, 0xE2]] = LEAD
    kinds.flags.writeable = False
    return kinds


@njit(cache=True, nogil=True, inline="always")
def break_width(text: np.ndarray, at: int) -> int:
    """The bytes of the line break at text[at], a BREAK or a LEAD; 0 if it only looks like one. CR LF is one break."""
    byte = text[at]
    if byte == 0xC2:
        return 2 if text[at + 1] == 0x85 else 0
    if byte == 0xE2:
        return 3 if text[at + 1] == 0x80 and (text[at + 2] == 0xA8 or text[at + 2] == 0xA9) else 0
    return 2 if byte == _CR and at + 1 < len(text) and text[at + 1] == NEWLINE else 1


@njit(cache=True, nogil=True)
def line_end(text: np.ndarray, at: int, kinds: np.ndarray) -> tuple[int, int]:
    """Where the line that text[at] is in ends, without its break, and where the next one begins."""
    for place in range(at, len(text)):
        if kinds[text[place]] & (BREAK | LEAD):
            width = break_width(text, place)
            if width:
                return place, place + width
    return len(text), len(text)


@njit(cache=True, nogil=True)
def newline_after(text: np.ndarray, at: int) -> int:
    """Where the first newline from text[at] on is; the text's length if there is none."""
    rest = text[at:]
    block = 0
    for block in range(len(rest) // BLOCK):
        found = False
        for k in range(BLOCK):
            found |= rest[BLOCK * block + k] == NEWLINE
        if found:
            break
    for place, byte in enumerate(rest[BLOCK * block :], at + BLOCK * block):
        if byte == NEWLINE:
            return place
    return len(text)


@njit(cache=True, nogil=True)
def strip(text: np.ndarray, start: int, end: int, classes: np.ndarray) -> tuple[int, int]:
    """text[start:end] without the white space at its ends: its start and end; both are `end` if nothing is left."""
    while start < end:
        point, width = code_point(text, start)
        if not classes[point] & SPACE:
            break
        start += width
    while end > start:
        point, width = code_point_before(text, end)
        if not classes[point] & SPACE:
            break
        end -= width
    return start, end


@njit(cache=True, nogil=True)
def ends_with_dots(text: np.ndarray, start: int, end: int) -> bool:
    """Whether text[start:end] ends with three dots."""
    return end - start >= 3 and text[end - 1] == _DOT and text[end - 2] == _DOT and text[end - 3] == _DOT


@njit(cache=True, nogil=True)
def count_marked_lines(data: np.ndarray, offsets: np.ndarray, kinds: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document: its lines as of str.splitlines(); those that, without the white space at their ends, begin with •
    or -; those that end with ... or … : int64[n, 3]."""
    counts = np.zeros((len(offsets) - 1, 3), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        lines = bullets = ellipses = after = 0
        while after < len(text):
            end, following = line_end(text, after, kinds)
            start, end = strip(text, after, end, classes)
            after = following
            lines += 1
            if start < end:
                first, _ = code_point(text, start)
                last, _ = code_point_before(text, end)
                bullets += first in (_DASH, _BULLET)
                ellipses += last == _ELLIPSIS or ends_with_dots(text, start, end)
        counts[document, 0] = lines
        counts[document, 1] = bullets
        counts[document, 2] = ellipses
    return counts


@njit(cache=True, nogil=True)
def count_marked_newlines(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Per document: the pieces between newlines, at least one; those that begin with * or -; those that end with … :
    int64[n, 3]."""
    counts = np.zeros((len(offsets) - 1, 3), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        lines = bullets = ellipses = 0
        start = 0
        while start <= len(text):
            end = newline_after(text, start)
            lines += 1
            if start < end:
                last, _ = code_point_before(text, end)
                bullets += text[start] == _DASH or text[start] == _STAR
                ellipses += last == _ELLIPSIS
            start = end + 1
        counts[document, 0] = lines
        counts[document, 1] = bullets
        counts[document, 2] = ellipses
    return counts
