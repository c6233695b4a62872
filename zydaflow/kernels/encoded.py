"""Data written out in source code: runs of base64, of hexadecimal bytes, of Unicode escapes.

The same matches as these regular expressions give from left to right, in linear time:

    base64       [a-zA-Z0-9+/\\n=]{64,}
    hexadecimal  (?:\\b(?:0x|\\\\x)?[0-9a-fA-F]{2}(?:,|\\b\\s*)){8,}
    escapes      (?:\\\\u[0-9a-fA-F]{4}){8,}
"""

import string

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE, WORD
from zydaflow.kernels.utf8 import code_point, code_point_before

BASE64, HEXADECIMAL, INSIDE = 1, 2, 4  # what a byte may be part of; INSIDE: a word, of ASCII
LEAST_BASE64, LEAST_UNITS = 64, 8
BACKSLASH, COMMA, ZERO, SMALL_X, SMALL_U = (ord(c) for c in "\\,0xu")


def _roles() -> np.ndarray:
    roles = np.zeros(256, np.uint8)
    roles[list((string.ascii_letters + string.digits + "+/\n=").encode())] |= BASE64
    roles[list(string.hexdigits.encode())] |= HEXADECIMAL
    roles[list((string.ascii_letters + string.digits + "_").encode())] |= INSIDE
    return roles


ROLES = _roles()


@njit(cache=True, nogil=True)
def _boundary(data: np.ndarray, start: int, at: int, stop: int, classes: np.ndarray) -> bool:
    """Whether a word begins or ends at data[at]."""
    before = after = False
    if at > start:
        point, _ = code_point_before(data, at)
        before = classes[point] & WORD != 0
    if at < stop:
        point, _ = code_point(data, at)
        after = classes[point] & WORD != 0
    return before != after


@njit(cache=True, nogil=True)
def _pair(data: np.ndarray, at: int, stop: int, roles: np.ndarray) -> bool:
    return at + 1 < stop and roles[data[at]] & HEXADECIMAL != 0 and roles[data[at + 1]] & HEXADECIMAL != 0


@njit(cache=True, nogil=True)
def _byte_end(data: np.ndarray, start: int, at: int, stop: int, roles: np.ndarray, classes: np.ndarray) -> int:
    """The end of the hexadecimal byte, with what separates it from the next, that begins at data[at]; 0 without one."""
    if not _boundary(data, start, at, stop, classes):
        return 0
    prefixed = at + 1 < stop and data[at + 1] == SMALL_X and (data[at] == ZERO or data[at] == BACKSLASH)
    end = at + 4 if prefixed else at + 2
    if not _pair(data, end - 2, stop, roles):
        return 0
    if end < stop and data[end] == COMMA:
        return end + 1
    if not _boundary(data, start, end, stop, classes):
        return 0
    while end < stop:
        point, width = code_point(data, end)
        if not classes[point] & SPACE:
            break
        end += width
    return end


@njit(cache=True, nogil=True)
def _bytes_end(data: np.ndarray, start: int, at: int, stop: int, roles: np.ndarray, classes: np.ndarray) -> int:
    """The end of the hexadecimal bytes that begin at data[at]; minus where the next may begin, if they are too few."""
    units = 0
    while at < stop:
        end = _byte_end(data, start, at, stop, roles, classes)
        if end == 0:
            break
        units += 1
        at = end
    return at if units >= LEAST_UNITS else -max(at, 1)


@njit(cache=True, nogil=True)
def _escapes_end(data: np.ndarray, at: int, stop: int, roles: np.ndarray) -> int:
    """The end of the Unicode escapes that begin at data[at]; `at` if there are too few."""
    end = at
    while end + 5 < stop and data[end] == BACKSLASH and data[end + 1] == SMALL_U:
        if not (_pair(data, end + 2, stop, roles) and _pair(data, end + 4, stop, roles)):
            break
        end += 6
    return end if end - at >= 6 * LEAST_UNITS else at


@njit(cache=True, nogil=True)
def _add(counts: np.ndarray, column: int, characters: int) -> None:
    counts[column] += characters
    counts[column + 1] = max(counts[column + 1], characters)


@njit(cache=True, nogil=True)
def count_encoded(data: np.ndarray, offsets: np.ndarray, roles: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document: characters in runs of base64, of the longest; the same of hexadecimal, of escapes: int64[n, 6]."""
    counts = np.zeros((len(offsets) - 1, 6), np.int64)
    for document in range(len(counts)):
        start, stop = offsets[document], offsets[document + 1]
        run = start  # where the run of base64's characters begins
        at = hexadecimal = escapes = start  # the last two: where the next match may begin
        while at <= stop:
            if at == stop or not roles[data[at]] & BASE64:
                if at - run >= LEAST_BASE64:
                    _add(counts[document], 0, at - run)
                run = at + 1
            if at == stop:
                break
            byte = data[at]
            inside = at > start and roles[data[at - 1]] & INSIDE != 0
            if at >= hexadecimal and (byte == BACKSLASH or (not inside and roles[byte] & HEXADECIMAL)):
                end = _bytes_end(data, start, at, stop, roles, classes)
                if end > 0:
                    characters = 0
                    for place in range(at, end):
                        characters += (data[place] & 0xC0) != 0x80
                    _add(counts[document], 2, characters)
                hexadecimal = max(abs(end), at + 1)
            if byte == BACKSLASH and at >= escapes:
                end = _escapes_end(data, at, stop, roles)
                if end > at:
                    _add(counts[document], 4, end - at)
                escapes = max(end, at + 1)
            at += 1
    return counts
