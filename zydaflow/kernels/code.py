"""Characters and lines of source code, counted."""

import numpy as np
from numba import njit

from zydaflow.kernels.characters import DIGIT, LETTER, SPACE, WORD
from zydaflow.kernels.utf8 import code_point

UNDERSCORE = ord("_")  # the one word character that is not alphanumeric

LINES, CHARACTERS, LONGEST, LONG = range(4)
"""Columns of `count_lines`."""


@njit(cache=True, nogil=True)
def count_kinds(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document: its characters, letters, alphanumeric ones, digits, and pieces: int64[n, 5].

    A piece is what `\\w+|[^\\w\\s]+` finds.
    """
    counts = np.zeros((len(offsets) - 1, 5), np.int64)
    for document in range(len(counts)):
        characters = letters = alphanumeric = digits = pieces = 0
        before = SPACE
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            kind = classes[point]
            characters += 1
            letters += 1 if kind & LETTER else 0
            alphanumeric += 1 if kind & WORD and point != UNDERSCORE else 0
            digits += 1 if kind & DIGIT else 0
            side = kind & (WORD | SPACE)
            pieces += 1 if side != before and side != SPACE else 0
            before = side
        counts[document, 0] = characters
        counts[document, 1] = letters
        counts[document, 2] = alphanumeric
        counts[document, 3] = digits
        counts[document, 4] = pieces
    return counts


@njit(cache=True, nogil=True)
def line_end(data: np.ndarray, at: int, stop: int) -> int:
    """The bytes of the end of a line at data[at], as `str.splitlines` sees one; 0 if there is none."""
    byte = data[at]
    if byte > 0x1E and byte != 0xC2 and byte != 0xE2:
        return 0
    if byte == 0x0D:
        return 2 if at + 1 < stop and data[at + 1] == 0x0A else 1
    if 0x0A <= byte <= 0x0C or 0x1C <= byte <= 0x1E:
        return 1
    if byte == 0xC2:  # U+0085
        return 2 if data[at + 1] == 0x85 else 0
    if byte == 0xE2:  # U+2028, U+2029
        return 3 if data[at + 1] == 0x80 and 0xA8 <= data[at + 2] <= 0xA9 else 0
    return 0


@njit(cache=True, nogil=True)
def count_lines(data: np.ndarray, offsets: np.ndarray, longer: int) -> np.ndarray:
    """Per document: lines, their characters without line ends, the longest's, lines of more than `longer`: int64[n, 4].

    Lines are those of `str.splitlines`.
    """
    counts = np.zeros((len(offsets) - 1, 4), np.int64)
    for document in range(len(counts)):
        lines = characters = longest = long = length = 0
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            byte = data[at]
            end = 0 if 0x1E < byte < 0xC2 or byte > 0xE2 else line_end(data, at, stop)
            if end == 0:
                length += (byte & 0xC0) != 0x80
                at += 1
                if at < stop:
                    continue
            lines += 1
            characters += length
            longest = max(longest, length)
            long += length > longer
            at += end
            length = 0
        counts[document, LINES] = lines
        counts[document, CHARACTERS] = characters
        counts[document, LONGEST] = longest
        counts[document, LONG] = long
    return counts


@njit(cache=True, nogil=True)
def first_lines(data: np.ndarray, offsets: np.ndarray, lines: int) -> np.ndarray:
    """Where each document's first `lines` lines, which end with a newline, end in `data`: int64[n]."""
    ends = offsets[1:].copy()
    for document in range(len(ends)):
        seen = 0
        for at in range(offsets[document], ends[document]):
            seen += data[at] == 0x0A
            if seen == lines:
                ends[document] = at
                break
    return ends


@njit(cache=True, nogil=True)
def first_characters(data: np.ndarray, offsets: np.ndarray, characters: int) -> np.ndarray:
    """Where each document's first `characters` characters end in `data`: int64[n]."""
    ends = offsets[1:].copy()
    for document in range(len(ends)):
        seen = 0
        for at in range(offsets[document], ends[document]):
            seen += (data[at] & 0xC0) != 0x80
            if seen > characters:
                ends[document] = at
                break
    return ends


@njit(cache=True, nogil=True)
def fill_heads(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, mapping: np.ndarray, out: np.ndarray, bounds: np.ndarray
) -> None:
    """Writes the bytes of each data[starts[i]:ends[i]], by the uint8[256] `mapping`, to out[bounds[i]:]."""
    for document in range(len(starts)):
        to = bounds[document]
        for at in range(starts[document], ends[document]):
            out[to] = mapping[data[at]]
            to += 1
