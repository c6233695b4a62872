"""Personal data as Dolma (arXiv 2402.00159) counts it, line by line, in linear time.

The same matches as these regular expressions give from left to right in each line, its newline included:

    e-mail   [.\\s@,?!;:)(]*([^\\s@]+@[^\\s@,?!;:)(]+?)[.\\s@,?!;:)(]?[\\s\\n\\r]
             unless the domain has no dot, or ( is all that stands before the @
    phone    \\s+\\(?(\\d{3})\\)?[-\\. ]*(\\d{3})[-. ]?(\\d{4})
    IP       (?:N\\.){3}N   with   N = 25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?
"""

import numpy as np
from numba import njit

from zydaflow.kernels.characters import DIGIT, SPACE
from zydaflow.kernels.pii import AT, DOT, quad_end
from zydaflow.kernels.utf8 import code_point, code_point_before

NEWLINE, OPEN, CLOSE, DASH, BLANK, QUESTION = (ord(c) for c in "\n()- ?")
MOST_QUESTIONS = 10_000  # a document with more question marks is not searched


def _around() -> np.ndarray:
    around = np.zeros(0x110000, bool)
    around[list(b".@,?!;:)(")] = True
    return around


AROUND = _around()  # bool by code point: what may stand around an address, white space aside


@njit(cache=True, nogil=True)
def _is_space(data: np.ndarray, at: int, stop: int, classes: np.ndarray) -> bool:
    if at >= stop:
        return False
    point, _ = code_point(data, at)
    return classes[point] & SPACE != 0


@njit(cache=True, nogil=True)
def _addressee(data: np.ndarray, begin: int, at: int, around: np.ndarray, classes: np.ndarray) -> int:
    """What stands before the @ at data[at]: 0 for nothing, 1 for ( alone, 2 for something else."""
    place, only_around = at, True
    while place > begin:
        point, width = code_point_before(data, place)
        if point == AT or classes[point] & SPACE:
            break
        only_around &= around[point]
        place -= width
    if place == at:
        return 0
    return 1 if only_around and data[at - 1] == OPEN else 2


@njit(cache=True, nogil=True)
def _domain(data: np.ndarray, at: int, stop: int, around: np.ndarray, classes: np.ndarray) -> tuple[int, bool]:
    """Where a match with the @ at data[at] ends, 0 if there is none, and whether its domain has a dot."""
    dot, first = False, True
    at += 1
    while at < stop:
        point, width = code_point(data, at)
        after = at + width
        space = classes[point] & SPACE != 0
        if not first and (space or around[point]) and _is_space(data, after, stop, classes):
            _, second = code_point(data, after)
            return after + second, dot
        if space:
            return (0, dot) if first else (after, dot)
        if around[point] and point != DOT:
            return 0, dot
        dot |= bool(point == DOT)
        first = False
        at = after
    return 0, dot


@njit(cache=True, nogil=True)
def _digits_end(data: np.ndarray, at: int, stop: int, count: int, classes: np.ndarray) -> int:
    """The end of that many digits at data[at]; 0 if there are fewer."""
    for _ in range(count):
        if at >= stop:
            return 0
        point, width = code_point(data, at)
        if not classes[point] & DIGIT:
            return 0
        at += width
    return at


@njit(cache=True, nogil=True)
def _phone_end(data: np.ndarray, at: int, stop: int, classes: np.ndarray) -> int:
    """The end of the telephone number that begins at data[at], behind white space; 0 if none does."""
    at += data[at] == OPEN
    at = _digits_end(data, at, stop, 3, classes)
    if at == 0:
        return 0
    at += at < stop and data[at] == CLOSE
    while at < stop and data[at] in (DASH, DOT, BLANK):
        at += 1
    at = _digits_end(data, at, stop, 3, classes)
    if at == 0:
        return 0
    at += at < stop and data[at] in (DASH, DOT, BLANK)
    return _digits_end(data, at, stop, 4, classes)


@njit(cache=True, nogil=True)
def _line(
    data: np.ndarray, start: int, stop: int, roles: np.ndarray, around: np.ndarray, classes: np.ndarray
) -> tuple[int, int]:
    """Matches in the line data[start:stop], and its question marks."""
    matches = questions = 0
    mail_end = phone_end = quad = at = start
    behind_space = False
    while at < stop:
        point, width = code_point(data, at)
        questions += point == QUESTION
        if point == AT and at >= mail_end:
            addressee = _addressee(data, mail_end, at, around, classes)
            end, dot = _domain(data, at, stop, around, classes) if addressee else (0, False)
            if end:
                mail_end = end
                matches += addressee == 2 and dot
        elif point == DOT:
            end = quad_end(data, quad, at, stop, roles)
            if end:
                quad = end
                matches += 1
        elif behind_space and at >= phone_end and (point == OPEN or classes[point] & DIGIT):
            end = _phone_end(data, at, stop, classes)
            if end:
                phone_end = end
                matches += 1
        behind_space = classes[point] & SPACE != 0
        at += width
    return matches, questions


@njit(cache=True, nogil=True)
def count_dolma_pii(
    data: np.ndarray, offsets: np.ndarray, roles: np.ndarray, around: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """E-mail addresses, telephone numbers and IP addresses of each document; 0 if it has too many question marks.

    `roles` are those of `kernels.pii`, `around` is AROUND. int64[n].
    """
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        begin, stop = offsets[document], offsets[document + 1]
        total = asked = 0
        for at in range(begin, stop):
            if data[at] == NEWLINE or at == stop - 1:
                matches, questions = _line(data, begin, at + 1, roles, around, classes)
                total += matches
                asked += questions
                begin = at + 1
        counts[document] = total if asked <= MOST_QUESTIONS else 0
    return counts
