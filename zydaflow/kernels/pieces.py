"""Pieces of a text, as `\\w+|[^\\w\\s]+` finds them, and what else RedPajama-V2 counts in the text as it is."""

import sys
from functools import cache

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE, WORD
from zydaflow.kernels.utf8 import code_point

UPPER, LOWER = 1, 2  # as str.isupper and str.islower say of one character; title case counts as LOWER
HASH, DOT, ELLIPSIS, OPEN, CLOSE, EXCLAMATION, QUESTION = (ord(c) for c in "#.…{}!?")

CHARACTERS, UPPERCASE, BRACKETS, SYMBOLS, PIECES, ALPHABETIC, CAPITAL, SENTENCES = range(8)
"""Columns of `count_pieces`."""


@cache
def cases() -> np.ndarray:
    """The case of every code point: uint8[0x110000]."""
    table = np.zeros(sys.maxunicode + 1, np.uint8)
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if character.isupper():
            table[point] = UPPER
        elif character.islower() or character.istitle():
            table[point] = LOWER
    table.flags.writeable = False
    return table


@njit(cache=True, nogil=True)
def count_pieces(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray, cases: np.ndarray) -> np.ndarray:
    """Counts per document: int64[n, 8].

    Characters; upper-case ones; { and }; symbols, which are #, ... and …; pieces; those with a letter of ASCII; those
    that str.isupper calls upper-case; sentences, which are what `[.!?]` separates and a word character is in.
    """
    counts = np.zeros((len(offsets) - 1, 8), np.int64)
    for document in range(len(counts)):
        count = counts[document]
        side, dots = SPACE, 0  # of the piece: WORD or 0, or SPACE between pieces; dots in a row, up to 2
        letter = upper = lower = sentence = False  # whether the piece, or the sentence, has any
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            kind, case = classes[point], cases[point]
            now = kind & (WORD | SPACE)
            if now != side:
                count[ALPHABETIC] += letter
                count[CAPITAL] += upper and not lower
                count[PIECES] += now != SPACE
                letter = upper = lower = False
                side = now
            letter |= bool(0x41 <= point & ~0x20 <= 0x5A)
            upper |= bool(case == UPPER)
            lower |= bool(case == LOWER)
            count[CHARACTERS] += 1
            count[UPPERCASE] += case == UPPER
            sentence |= now == WORD
            dots = dots + 1 if point == DOT else 0
            if now == 0:
                count[BRACKETS] += point in (OPEN, CLOSE)
                count[SYMBOLS] += point in (HASH, ELLIPSIS) or dots == 3
                dots = 0 if dots == 3 else dots
                if point in (DOT, EXCLAMATION, QUESTION):
                    count[SENTENCES] += sentence
                    sentence = False
        count[ALPHABETIC] += letter
        count[CAPITAL] += upper and not lower
        count[SENTENCES] += sentence
    return counts
