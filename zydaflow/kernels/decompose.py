"""RedPajama's normal form of a text: ASCII punctuation deleted, lower case, single spaces, NFD.

It is `unicodedata.normalize("NFD", " ".join(text.translate(NO_PUNCTUATION).lower().split()))`, by a table of code
points; texts for which a code point's neighbours matter come with all but the spaces done.
"""

import string
import sys
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.normalise import DROP, PIECE, SPACE, is_ascii, write_ascii, write_utf8
from zydaflow.kernels.utf8 import code_point

MANY = 0x200000  # in the table of letters, added to where the several code points begin in the pool, after their number
GROWTH = 3  # the bytes that one byte beyond ASCII becomes, at most: U+0390, of two, becomes three of two
SIGMA = 0x3A3  # lowered by its place in a word


class Decomposition(NamedTuple):
    """By code point, 0 to U+10FFFF."""

    letters: np.ndarray  # uint32[2, …]: what it becomes, or SPACE, or DROP; in the second row only white space changes
    pool: np.ndarray  # uint32
    lengths: np.ndarray  # uint8: the code points that it becomes; 0 for white space and what is deleted
    numeric: np.ndarray  # uint8: how many of them are numeric, as str.isnumeric
    contextual: np.ndarray  # bool: its neighbours matter


@cache
def decomposition() -> Decomposition:
    """The tables, from this Python's Unicode data (`unicodedata.unidata_version`)."""
    letters = np.tile(np.arange(sys.maxunicode + 1, dtype=np.uint32), (2, 1))
    lengths = np.ones(sys.maxunicode + 1, np.uint8)
    numeric = np.zeros(sys.maxunicode + 1, np.uint8)
    contextual = np.zeros(sys.maxunicode + 1, bool)
    pool: list[int] = []
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if character.isspace():
            letters[:, point], lengths[point] = SPACE, 0
            continue
        if character in string.punctuation:
            letters[0, point], lengths[point] = DROP, 0
            continue
        becomes = unicodedata.normalize("NFD", character.lower())
        lengths[point], numeric[point] = len(becomes), sum(map(str.isnumeric, becomes))
        contextual[point] = point == SIGMA or unicodedata.combining(character) or unicodedata.combining(becomes[0])
        letters[0, point] = ord(becomes) if len(becomes) == 1 else MANY + len(pool)
        pool += [len(becomes), *map(ord, becomes)] if len(becomes) > 1 else []
    tables = Decomposition(letters, np.array(pool, np.uint32), lengths, numeric, contextual)
    for table in tables:
        table.flags.writeable = False
    return tables


@njit(cache=True, nogil=True)
def decomposed_room(data: np.ndarray, offsets: np.ndarray) -> int:
    """Bytes that the normal forms of all documents take at most, and four that are written in vain."""
    wide = 0
    for byte in data[offsets[0] : offsets[-1]]:
        wide += byte >= 0x80
    return offsets[-1] - offsets[0] + (GROWTH - 1) * wide + 4


@njit(cache=True, nogil=True)
def _write(letter: int, pool: np.ndarray, out: np.ndarray, at: int) -> int:
    if letter < MANY:
        return write_utf8(letter, out, at)
    place = np.int64(letter) - MANY
    for several in pool[place + 1 : place + 1 + np.int64(pool[place])]:
        at = write_utf8(several, out, at)
    return at


@njit(cache=True, nogil=True)
def _decompose(data: np.ndarray, start: int, stop: int, letters: np.ndarray, pool: np.ndarray, out: np.ndarray) -> int:
    """Writes the normal form of data[start:stop] to `out`, and returns its length in bytes."""
    at, length = start, 0
    gap = True  # nothing, or a space, was written last
    while at < stop:
        end = min(at + PIECE, stop)
        if is_ascii(data[at:end]):
            rest, written = out[length:], 0
            for byte in data[at:end]:
                written, gap = write_ascii(letters[byte], gap, rest, written)
            length += written
            at = end
        while at < end:
            point, size = code_point(data, at)
            letter = letters[point]
            at += size
            if letter < 0x80 or letter == DROP:
                length, gap = write_ascii(letter, gap, out, length)
            else:
                length, gap = _write(letter, pool, out, length), False
    return length - 1 if length > 0 and gap else length


@njit(cache=True, nogil=True)
def decompose(
    data: np.ndarray, offsets: np.ndarray, done: np.ndarray, tables: Decomposition, out: np.ndarray, bounds: np.ndarray
) -> None:
    """Writes the normal form of each document to out[bounds[i]:bounds[i + 1]]; bounds[0] is 0.

    `done` (bool) marks documents of which all but the spaces is normal.
    """
    for document in range(len(offsets) - 1):
        letters = tables.letters[1 if done[document] else 0]
        start, stop = offsets[document], offsets[document + 1]
        length = _decompose(data, start, stop, letters, tables.pool, out[bounds[document] :])
        bounds[document + 1] = bounds[document] + length
