"""Personal data that Zyda (arXiv 2406.01981) counts: e-mail addresses and dotted quads, found from their @ and dots.

The same matches as these regular expressions give from left to right, in linear time:

    e-mail   \\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}\\b
    quad     (?:N\\.){3}N   with   N = 25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?
"""

import string

import numpy as np
from numba import njit

from zydaflow.kernels.characters import WORD
from zydaflow.kernels.utf8 import code_point, code_point_before

LOCAL, DOMAIN, LETTER, DIGIT = 1, 2, 4, 8  # what a byte may be part of
AT, DOT, ZERO = ord("@"), ord("."), ord("0")


def _roles() -> np.ndarray:
    roles = np.zeros(256, np.uint8)
    alphanumeric = string.ascii_letters + string.digits
    for role, characters in (
        (LOCAL, alphanumeric + "._%+-"),
        (DOMAIN, alphanumeric + ".-"),
        (LETTER, string.ascii_letters),
        (DIGIT, string.digits),
    ):
        roles[list(characters.encode())] |= role
    return roles


ROLES = _roles()


@njit(cache=True, nogil=True)
def _is_word(data: np.ndarray, at: int, classes: np.ndarray) -> bool:
    point, _ = code_point(data, at)
    return classes[point] & WORD != 0


@njit(cache=True, nogil=True)
def local_part(data: np.ndarray, start: int, begin: int, at: int, roles: np.ndarray, classes: np.ndarray) -> int:
    """Where the address begins in data[begin:at], where data[at] is the @: at the first word boundary in it; or -1."""
    first = at
    while first > begin and roles[data[first - 1]] & LOCAL:
        first -= 1
    before = False
    if first > start:
        point, _ = code_point_before(data, first)
        before = classes[point] & WORD != 0
    for place in range(first, at):
        word = classes[data[place]] & WORD != 0
        if word != before:
            return place
        before = word
    return -1


@njit(cache=True, nogil=True)
def domain_end(data: np.ndarray, at: int, stop: int, roles: np.ndarray, classes: np.ndarray) -> int:
    """The end of the domain after the @ at data[at], which is that of its last possible top level; 0 if it has none."""
    last = at + 1
    while last < stop and roles[data[last]] & DOMAIN:
        last += 1
    end = last  # of the letters after the dot that is looked for
    for dot in range(last - 1, at + 1, -1):
        if data[dot] == DOT and end - dot > 2 and (end == stop or not _is_word(data, end, classes)):
            return end
        if not roles[data[dot]] & LETTER:
            end = dot
    return 0


@njit(cache=True, nogil=True)
def _number_end(data: np.ndarray, at: int, stop: int, roles: np.ndarray) -> int:
    """The end of the longest number of at most 255 and three digits that begins at data[at]; `at` if there is none."""
    end, value = at, np.int64(0)
    while end < min(stop, at + 3) and roles[data[end]] & DIGIT:
        value = value * 10 + np.int64(data[end]) - ZERO
        if value > 255:
            break
        end += 1
    return end


@njit(cache=True, nogil=True)
def quad_end(data: np.ndarray, begin: int, dot: int, stop: int, roles: np.ndarray) -> int:
    """The end of the quad whose first number ends data[begin:dot], before the dot at data[dot]; 0 if there is none."""
    if dot <= begin or not roles[data[dot - 1]] & DIGIT:
        return 0
    end = dot
    for _ in range(3):
        if end == stop or data[end] != DOT:
            return 0
        at = end + 1
        end = _number_end(data, at, stop, roles)
        if end == at:
            return 0
    return end


@njit(cache=True, nogil=True)
def count_pii(data: np.ndarray, offsets: np.ndarray, roles: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """E-mail addresses plus dotted quads of each document: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        start, stop = offsets[document], offsets[document + 1]
        mail_end = last_quad = start
        for at in range(start, stop):
            byte = data[at]
            if byte == DOT:
                end = quad_end(data, last_quad, at, stop, roles)
                if end:
                    last_quad = end
                    counts[document] += 1
            elif byte == AT and local_part(data, start, mail_end, at, roles, classes) >= 0:
                end = domain_end(data, at, stop, roles, classes)
                if end:
                    mail_end = end
                    counts[document] += 1
    return counts
