"""What RedPajama-V2 says of each line, summed over a document's lines."""

import numpy as np
from numba import njit

from zydaflow.kernels.decompose import Decomposition
from zydaflow.kernels.normalise import DROP
from zydaflow.kernels.normalise import SPACE as BLANK
from zydaflow.kernels.utf8 import code_point

NEWLINE, DOT, ELLIPSIS = 0x0A, 0x2E, 0x2026
ENDINGS = np.array([ord(c) for c in ".!?”"], np.int64)
BULLETS = np.array([ord(c) for c in "•‣▶◀◦■□▪▫–"], np.int64)
JAVASCRIPT = np.frombuffer(b"javascript", np.uint8)
OTHER = 99  # characters of a word that is not the beginning of javascript

LINES, TERMINAL, TRAILING, BULLETED, SCRIPTED, WORDS, LETTERS, SPACES, NUMERIC = range(9)
"""Columns of `count_lines_of_web`."""


@njit(cache=True, nogil=True)
def _among(point: np.int64, points: np.ndarray) -> bool:
    found = False
    for other in points:
        found |= point == other
    return found


@njit(cache=True, nogil=True)
def _line(data: np.ndarray, at: int, end: int, tables: Decomposition, count: np.ndarray, constants: tuple) -> None:
    """Adds the line data[at:end] to the document's counts."""
    endings, bullets, javascript = constants
    letters = tables.letters[0]
    last, dots = np.int64(-1), 0  # the last character that is not white space, and how many dots in a row end with it
    spaced = True  # whether white space, or nothing, stands before
    spelled, words, scripted = 0, 0, False  # characters of the word that spell javascript; words; whether one is it
    inside = False  # whether a character of the word is left after normalisation
    while at < end:
        point, width = code_point(data, at)
        at += width
        letter = letters[point]
        if letter == BLANK:
            scripted |= spelled == len(javascript)
            spelled, inside, spaced = 0, False, True
            continue
        if last < 0:
            count[BULLETED] += _among(point, bullets)
        dots = 0 if point != DOT else 1 if spaced else dots + 1
        last, spaced = point, False
        if letter == DROP:
            continue
        words += not inside
        inside = True
        matches = spelled < len(javascript) and letter == javascript[spelled]
        spelled = spelled + 1 if matches else OTHER
        count[LETTERS] += tables.lengths[point]
        count[NUMERIC] += tables.numeric[point]
    count[SCRIPTED] += scripted or spelled == len(javascript)
    count[TERMINAL] += _among(last, endings)
    count[TRAILING] += last == ELLIPSIS or dots >= 3
    count[WORDS] += words
    count[SPACES] += max(words - 1, 0)
    count[LINES] += 1


@njit(cache=True, nogil=True)
def count_lines_of_web(data: np.ndarray, offsets: np.ndarray, tables: Decomposition, constants: tuple) -> np.ndarray:
    """Counts per document: int64[n, 9].

    Lines, which newlines end; those that end with a mark of `ENDINGS`, and with an ellipsis, before white space; that
    begin with a bullet, after white space; that hold the word javascript after normalisation; words, their characters,
    spaces and numeric characters of the lines, each normalised by itself.

    Args:
        constants: ENDINGS, BULLETS, JAVASCRIPT.
    """
    counts = np.zeros((len(offsets) - 1, 9), np.int64)
    for document in range(len(counts)):
        begin, stop = offsets[document], offsets[document + 1]
        for at in range(begin, stop):
            if data[at] == NEWLINE:
                _line(data, begin, at, tables, counts[document], constants)
                begin = at + 1
        if begin < stop:
            _line(data, begin, stop, tables, counts[document], constants)
    return counts
