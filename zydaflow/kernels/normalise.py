"""Text → normalised text: words of lower-cased characters without punctuation, joined by single spaces."""

import numpy as np
from numba import njit

from zydaflow.kernels.utf8 import code_point

SPACE = 32  # in the table of letters: a character that separates words
DROP = 0x110000  # in the table of letters: a character that is deleted


@njit(cache=True, nogil=True, inline="always")
def write_utf8(point: int, out: np.ndarray, at: int) -> int:
    """Writes a code point as UTF-8 to out[at:], and returns where the next one goes."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + 1] = 0x80 | point & 0x3F
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + 1] = 0x80 | point >> 6 & 0x3F
        out[at + 2] = 0x80 | point & 0x3F
        return at + 3
    out[at] = 0xF0 | point >> 18
    out[at + 1] = 0x80 | point >> 12 & 0x3F
    out[at + 2] = 0x80 | point >> 6 & 0x3F
    out[at + 3] = 0x80 | point & 0x3F
    return at + 4


@njit(cache=True, nogil=True)
def flag(data: np.ndarray, offsets: np.ndarray, contextual: np.ndarray, flags: np.ndarray) -> None:
    """Sets flags[i] for every document that holds a code point marked in `contextual` (bool by code point)."""
    for document in range(len(offsets) - 1):
        at = offsets[document]
        stop = offsets[document + 1]
        while at < stop:
            if data[at] < 0x80:
                at += 1
                continue
            point, length = code_point(data, at)
            if contextual[point]:
                flags[document] = True
                break
            at += length


@njit(cache=True, nogil=True)
def normalise(data: np.ndarray, start: int, stop: int, letters: np.ndarray, out: np.ndarray) -> int:
    """Writes the normalised form of data[start:stop] to `out`, and returns its length in bytes.

    `letters` (uint32 by code point) holds the lower-case code point, SPACE or DROP. No lower-case letter takes more
    than 3/2 of the bytes of its capital, so `out` needs that much room, and one byte for a last space.
    """
    at = start
    length = 0
    gap = True  # nothing, or a space, was written last
    while at < stop:
        byte = data[at]
        if byte < 0x80:  # without branches: ordinary text is a random mixture of letters, spaces and punctuation
            letter = letters[byte]
            is_space = letter == SPACE
            out[length] = letter
            length += (letter != DROP) & ~(is_space & gap)
            gap = is_space | (gap & (letter == DROP))
            at += 1
            continue
        point, size = code_point(data, at)
        letter = letters[point]
        at += size
        if letter == SPACE:
            if not gap:
                out[length] = SPACE
                length += 1
            gap = True
        elif letter != DROP:
            length = write_utf8(letter, out, length)
            gap = False
    if length > 0 and gap:
        length -= 1
    return length
