"""Counts of lines and words for FineWeb's filters."""

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE
from zydaflow.kernels.lines import NEWLINE
from zydaflow.kernels.utf8 import code_point

SHORT = 30  # characters of a short line, at most
FIVE, TERMINAL = 1, 2  # kinds of marks: FineWeb's own, and those that end sentences in any script


@njit(cache=True, nogil=True)
def count_fineweb_lines(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Per document, of the lines between its newlines that are not blank: int64[n, 6].

    Lines; those whose last character, white space not left out, is a mark of the first kind, and of the second (`marks`
    is uint8 by code point, of the bits above); those of at most SHORT characters. And of the whole text: newlines, and
    words as of str.split().
    """
    counts = np.zeros((len(offsets) - 1, 6), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        lines = marked = terminated = short = newlines = words = 0
        at = 0
        while at <= len(text):
            length = before = 0
            gap, last = True, np.int64(NEWLINE)
            while at < len(text) and text[at] != NEWLINE:
                last, width = code_point(text, at)
                at += width
                length += 1
                space = classes[last] & SPACE != 0
                before += gap and not space
                gap = space
            newlines += at < len(text)
            at += 1
            if before:
                words += before
                lines += 1
                marked += marks[last] & FIVE != 0
                terminated += marks[last] & TERMINAL != 0
                short += length <= SHORT
        counts[document, 0] = lines
        counts[document, 1] = marked
        counts[document, 2] = terminated
        counts[document, 3] = short
        counts[document, 4] = newlines
        counts[document, 5] = words
    return counts


@njit(cache=True, nogil=True)
def count_newlines(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The newlines of each document: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        total = 0
        for byte in data[offsets[document] : offsets[document + 1]]:
            total += byte == NEWLINE
        counts[document] = total
    return counts
