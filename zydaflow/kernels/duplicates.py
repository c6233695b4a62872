"""Lines and paragraphs of a document that occur in it more than once, told by 64-bit hashes of their bytes."""

import numpy as np
from numba import njit

from zydaflow.kernels.lines import NEWLINE, newline_after, strip
from zydaflow.kernels.shingles import BASE, finish

SLOTS = 64  # of a document's table at first; it grows with the document's different lines, not with its length

_BASE = np.uint64(BASE)
_0, _1, _8, _32 = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(32)
_FREE = _0
_AGAIN = _1  # the bit of a slot that says that its line has come a second time
_TAKEN = np.uint64(2)  # a bit that every slot in use has
_HASH = ~(_AGAIN | _TAKEN)


@njit(cache=True, nogil=True)
def _hash(piece: np.ndarray) -> np.uint64:
    """The hash of the bytes, taken eight by eight."""
    h = np.uint64(len(piece))
    for block in range(len(piece) // 8):
        word = _0
        for k in range(8):
            word |= np.uint64(piece[8 * block + k]) << np.uint64(8 * k)
        h = (h ^ word) * _BASE
        h ^= h >> _32
    word = _0
    for byte in piece[len(piece) // 8 * 8 :]:
        word = word << _8 | np.uint64(byte)
    return finish((h ^ word) * _BASE)


@njit(cache=True, nogil=True)
def _slot(slots: np.ndarray, key: np.uint64) -> np.int64:
    """The place of the key in the table, or the free place where it belongs."""
    last = np.uint64(len(slots) - 1)
    at = (key >> _8) & last
    while slots[at] != _FREE and slots[at] & ~_AGAIN != key:
        at = (at + _1) & last
    return np.int64(at)


@njit(cache=True, nogil=True)
def _grown(slots: np.ndarray) -> np.ndarray:
    """A table of four times the slots with the same content."""
    larger = np.zeros(4 * len(slots), np.uint64)
    for key in slots:
        if key != _FREE:
            larger[_slot(larger, key & ~_AGAIN)] = key
    return larger


@njit(cache=True, nogil=True)
def _see(slots: np.ndarray, hashed: np.uint64) -> int:
    """Enters a hash: 0 if it was not there, 1 if it was once, 2 if more often."""
    key = hashed & _HASH | _TAKEN
    at = _slot(slots, key)
    if slots[at] == _FREE:
        slots[at] = key
        return 0
    if slots[at] & _AGAIN:
        return 2
    slots[at] |= _AGAIN
    return 1


@njit(cache=True, nogil=True)
def _characters(text: np.ndarray, start: int, end: int) -> int:
    total = 0
    for byte in text[start:end]:
        total += (byte & 0xC0) != 0x80
    return total


@njit(cache=True, nogil=True)
def count_duplicate_lines(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document, of the lines between its newlines: int64[n, 8].

    Lines; empty ones; empty ones at the text's two ends. Of the others: lines that an earlier one equals, and their
    characters; lines that any other one equals, and their characters; characters of those of white space alone that an
    earlier one equals.
    """
    counts = np.zeros((len(offsets) - 1, 8), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        slots = np.zeros(SLOTS, np.uint64)
        of = counts[document]
        different = start = 0
        while start <= len(text):
            end = newline_after(text, start)
            of[0] += 1
            if start == end:
                of[1] += 1
                of[2] += (start == 0) != (end == len(text))
            else:
                seen = _see(slots, _hash(text[start:end]))
                if seen:
                    length = _characters(text, start, end)
                    of[3] += 1
                    of[4] += length
                    of[5] += 3 - seen  # the first one counts when its second copy comes
                    of[6] += length * (3 - seen)
                    first, last = strip(text, start, end, classes)
                    of[7] += length if first == last else 0
                else:
                    different += 1
                    if 2 * different > len(slots):
                        slots = _grown(slots)
            start = end + 1
    return counts


@njit(cache=True, nogil=True)
def count_duplicate_paragraphs(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document, of what is between two or more newlines in it without the white space at its ends: int64[n, 3].

    Paragraphs, at least one; those that an earlier one equals; their characters.
    """
    counts = np.zeros((len(offsets) - 1, 3), np.int64)
    for document in range(len(counts)):
        whole = data[offsets[document] : offsets[document + 1]]
        first, last = strip(whole, 0, len(whole), classes)
        text = whole[first:last]
        slots = np.zeros(SLOTS, np.uint64)
        of = counts[document]
        different = start = 0
        while start <= len(text):
            end = newline_after(text, start)
            while end + 1 < len(text) and text[end + 1] != NEWLINE:
                end = newline_after(text, end + 1)
            of[0] += 1
            if _see(slots, _hash(text[start:end])):
                of[1] += 1
                of[2] += _characters(text, start, end)
            else:
                different += 1
                if 2 * different > len(slots):
                    slots = _grown(slots)
            start = end + 1
            while start < len(text) and text[start] == NEWLINE:
                start += 1
    return counts
