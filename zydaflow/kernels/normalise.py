"""Text → normalised text: words of lower-cased characters without punctuation, joined by single spaces."""

import numpy as np
from numba import njit

from zydaflow.kernels.utf8 import code_point

SPACE = 32  # in the table of letters: a character that separates words
DROP = 0x110000  # in the table of letters: a character that is deleted
APART = 0x200000  # in the table of letters, added to the letter: a word of its own
PIECE = 128  # bytes that are looked at together, for whether all are ASCII


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
def is_ascii(data: np.ndarray) -> bool:
    """Whether no byte has its high bit set."""
    together = np.uint8(0)
    for byte in data:
        together |= byte
    return bool(together < 0x80)


@njit(cache=True, nogil=True)
def flag(data: np.ndarray, offsets: np.ndarray, contextual: np.ndarray, flags: np.ndarray) -> None:
    """Sets flags[i] for every document that holds a code point marked in `contextual` (bool by code point)."""
    for document in range(len(offsets) - 1):
        at = offsets[document]
        stop = offsets[document + 1]
        found = False
        while at < stop and not found:
            end = min(at + PIECE, stop)
            if is_ascii(data[at:end]):
                at = end
            while at < end:
                if data[at] < 0x80:
                    at += 1
                else:
                    point, length = code_point(data, at)
                    found |= contextual[point]
                    at += length
        flags[document] = found


@njit(cache=True, nogil=True)
def room(longest: int) -> int:
    """Bytes that the normalised form of a text of `longest` bytes may take, and a last space.

    No lower-case letter takes more than 3/2 of the bytes of its capital; a word apart has three bytes or four, and gets
    two spaces.
    """
    return longest + longest * 2 // 3 + 2


@njit(cache=True, nogil=True, inline="always")
def write_ascii(letter: int, gap: bool, out: np.ndarray, at: int) -> tuple[int, bool]:
    """Writes a letter of ASCII to out[at:], unless it is dropped or a second space. Returns the next `at` and `gap`.

    Without branches: ordinary text is a random mixture of letters, spaces and punctuation.
    """
    is_space = letter == SPACE
    out[at] = letter
    return at + ((letter != DROP) & ~(is_space & gap)), is_space | (gap & (letter == DROP))


@njit(cache=True, nogil=True)
def normalise(data: np.ndarray, start: int, stop: int, letters: np.ndarray, out: np.ndarray) -> int:
    """Writes the normalised form of data[start:stop] to `out`, and returns its length in bytes.

    `letters` (uint32 by code point) holds the lower-case code point, with APART added to it if it is a word of its own,
    or SPACE, or DROP. `out` needs `room(stop - start)` bytes.
    """
    at = start
    length = 0
    gap = True  # nothing, or a space, was written last
    while at < stop:
        end = min(at + PIECE, stop)
        if is_ascii(data[at:end]):
            rest = out[length:]
            written = 0  # counted from 0, which spares the check for a negative index
            for byte in data[at:end]:
                written, gap = write_ascii(letters[byte], gap, rest, written)
            length += written
            at = end
        while at < end:
            if data[at] < 0x80:
                length, gap = write_ascii(letters[data[at]], gap, out, length)
                at += 1
                continue
            point, size = code_point(data, at)
            letter = letters[point]
            at += size
            if letter == SPACE or letter >= APART:
                if not gap:
                    out[length] = SPACE
                    length += 1
                gap = True
                if letter >= APART:
                    length = write_utf8(letter ^ APART, out, length)
                    out[length] = SPACE
                    length += 1
            elif letter != DROP:
                length = write_utf8(letter, out, length)
                gap = False
    if length > 0 and gap:
        length -= 1
    return length


@njit(cache=True, nogil=True)
def room_for(offsets: np.ndarray) -> int:
    """Bytes that the normalised forms of all these texts may take, and what the last one needs while it is written."""
    return sum([room(offsets[i + 1] - offsets[i]) for i in range(len(offsets) - 1)])


@njit(cache=True, nogil=True)
def normalise_texts(
    data: np.ndarray, offsets: np.ndarray, letters: np.ndarray, out: np.ndarray, bounds: np.ndarray
) -> None:
    """Writes the normalised form of each text to out[bounds[i]:bounds[i + 1]]; bounds[0] is 0."""
    for document in range(len(offsets) - 1):
        length = normalise(data, offsets[document], offsets[document + 1], letters, out[bounds[document] :])
        bounds[document + 1] = bounds[document] + length
