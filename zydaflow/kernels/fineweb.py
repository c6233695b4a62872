"""Counts of lines and words for FineWeb's filters."""

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE
from zydaflow.kernels.lines import NEWLINE
from zydaflow.kernels.utf8 import code_point

SHORT = 30  # characters of a short line, at most


@njit(cache=True, nogil=True)
def count_fineweb_lines(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Per document, of the lines between its newlines that are not blank: int64[n, 5].

    Lines; those whose last character is a mark (`marks` is bool by code point), white space not left out; those of at
    most SHORT characters. And of the whole text: newlines, and words as of str.split().
    """
    counts = np.zeros((len(offsets) - 1, 5), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        lines = marked = short = newlines = words = 0
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
                marked += marks[last]
                short += length <= SHORT
        counts[document, 0] = lines
        counts[document, 1] = marked
        counts[document, 2] = short
        counts[document, 3] = newlines
        counts[document, 4] = words
    return counts
