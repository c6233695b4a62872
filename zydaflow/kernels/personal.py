"""E-mail addresses, IP addresses and telephone numbers: where they are in texts.

The same matches as these regular expressions give from left to right, in linear time:

    e-mail   \\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}\\b
    IP       (?<![\\w.])(?:N\\.){3}N(?!\\w|\\.[0-9])   with   N = 25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]
    phone    (?<![\\w+])\\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}(?!\\w), or
             (?<!\\w)(?<![0-9][.-])(?:1[ .-])?(?:\\(D\\) ?|D[ .-])D[ .-][0-9]{4}(?!\\w|[.-][0-9])
             with   D = [2-9][0-9]{2}
"""

import numpy as np
from numba import njit

from zydaflow.kernels.characters import WORD
from zydaflow.kernels.pii import AT, DIGIT, DOT, ZERO, domain_end, local_part
from zydaflow.kernels.utf8 import code_point, code_point_before

MAIL, ADDRESS, PHONE = range(3)
ONE, TWO, NINE, SPACE, DASH, PLUS, OPEN, CLOSE = (ord(c) for c in "129 -+()")
SEPARATORS = 2  # between two digits of an international number, at most
LEAST_DIGITS, MOST_DIGITS = 8, 15  # of an international number; ITU-T E.164 allows 15


@njit(cache=True, nogil=True)
def _word_before(data: np.ndarray, start: int, at: int, classes: np.ndarray) -> bool:
    if at == start:
        return False
    point, _ = code_point_before(data, at)
    return classes[point] & WORD != 0


@njit(cache=True, nogil=True)
def _word_at(data: np.ndarray, at: int, stop: int, classes: np.ndarray) -> bool:
    if at >= stop:
        return False
    point, _ = code_point(data, at)
    return classes[point] & WORD != 0


@njit(cache=True, nogil=True, inline="always")
def _is_digit(data: np.ndarray, at: int, stop: int) -> bool:
    return at < stop and ZERO <= data[at] <= NINE


@njit(cache=True, nogil=True)
def _byte_end(data: np.ndarray, at: int, stop: int) -> int:
    """The end of all the digits at data[at], a number from 0 to 255 without a leading zero; 0 for anything else."""
    end, value = at, np.int64(0)
    while _is_digit(data, end, stop) and end < at + 4:
        value = value * 10 + np.int64(data[end]) - ZERO
        end += 1
    if end == at or value > 255 or end == at + 4 or (end > at + 1 and data[at] == ZERO):
        return 0
    return end


@njit(cache=True, nogil=True)
def _address_end(data: np.ndarray, start: int, at: int, stop: int, classes: np.ndarray) -> int:
    """The end of the IP address that begins at data[at]; 0 if none does."""
    if at > start and (data[at - 1] == DOT or _word_before(data, start, at, classes)):
        return 0
    end = _byte_end(data, at, stop)
    for _ in range(3):
        if end == 0 or end >= stop or data[end] != DOT:
            return 0
        end = _byte_end(data, end + 1, stop)
    if end == 0 or _word_at(data, end, stop, classes):
        return 0
    return 0 if end < stop and data[end] == DOT and _is_digit(data, end + 1, stop) else end


@njit(cache=True, nogil=True)
def _international_end(data: np.ndarray, at: int, stop: int, classes: np.ndarray) -> int:
    """The end of the longest international number whose + is data[at]; 0 if there is none."""
    end, digits = 0, 1
    if not _is_digit(data, at + 1, stop) or data[at + 1] == ZERO:
        return 0
    at += 2
    while digits < MOST_DIGITS:
        for _ in range(SEPARATORS):
            between = at < stop and data[at] in (SPACE, DOT, DASH, OPEN, CLOSE)
            at += between
        if not _is_digit(data, at, stop):
            break
        at += 1
        digits += 1
        if digits >= LEAST_DIGITS and not _word_at(data, at, stop, classes):
            end = at
    return end


@njit(cache=True, nogil=True)
def _digits(data: np.ndarray, at: int, stop: int, count: int) -> bool:
    """Whether data[at:] begins with that many digits, of which the first of three is 2 or more."""
    if at + count > stop or (count == 3 and data[at] < TWO):
        return False
    digits = True
    for place in range(at, at + count):
        digits &= ZERO <= data[place] <= NINE
    return digits


@njit(cache=True, nogil=True, inline="always")
def _separated(data: np.ndarray, at: int, stop: int) -> bool:
    return at < stop and (data[at] == SPACE or data[at] == DOT or data[at] == DASH)


@njit(cache=True, nogil=True)
def _national_end(data: np.ndarray, at: int, stop: int, classes: np.ndarray) -> int:
    """The end of the North American number that begins at data[at], without its 1; 0 if none does."""
    if at < stop and data[at] == OPEN:
        if not _digits(data, at + 1, stop, 3) or at + 4 >= stop or data[at + 4] != CLOSE:
            return 0
        at += 5
        at += at < stop and data[at] == SPACE
    else:
        if not _digits(data, at, stop, 3) or not _separated(data, at + 3, stop):
            return 0
        at += 4
    if not _digits(data, at, stop, 3) or not _separated(data, at + 3, stop) or not _digits(data, at + 4, stop, 4):
        return 0
    end = at + 8
    if _word_at(data, end, stop, classes):
        return 0
    follows = end < stop and (data[end] == DOT or data[end] == DASH) and _is_digit(data, end + 1, stop)
    return 0 if follows else end


@njit(cache=True, nogil=True)
def _phone_end(data: np.ndarray, start: int, at: int, stop: int, classes: np.ndarray) -> int:
    """The end of the telephone number that begins at data[at], a digit, + or (; 0 if none does."""
    if _word_before(data, start, at, classes):
        return 0
    if data[at] == PLUS:
        return 0 if at > start and data[at - 1] == PLUS else _international_end(data, at, stop, classes)
    if at - 2 >= start and (data[at - 1] == DOT or data[at - 1] == DASH) and _is_digit(data, at - 2, stop):
        return 0
    if data[at] == ONE and _separated(data, at + 1, stop):
        return _national_end(data, at + 2, stop, classes)
    return _national_end(data, at, stop, classes)


@njit(cache=True, nogil=True)
def next_match(
    data: np.ndarray, start: int, begin: int, stop: int, kind: int, roles: np.ndarray, classes: np.ndarray
) -> tuple[int, int]:
    """Where the first match of the kind in data[begin:stop] begins and ends; stop, stop if there is none.

    The text is data[start:stop]: what stands before `begin` is looked at, and never part of a match.
    """
    for at in range(begin, stop):
        byte = data[at]
        if kind == MAIL:
            if byte == AT:
                first = local_part(data, start, begin, at, roles, classes)
                end = domain_end(data, at, stop, roles, classes) if first >= 0 else 0
                if end:
                    return first, end
        elif kind == ADDRESS:
            end = _address_end(data, start, at, stop, classes) if roles[byte] & DIGIT else 0
            if end:
                return at, end
        elif roles[byte] & DIGIT or byte in (PLUS, OPEN):
            end = _phone_end(data, start, at, stop, classes)
            if end:
                return at, end
    return stop, stop


@njit(cache=True, nogil=True)
def count_matches(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, kind: int, roles: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Matches of the kind in each text data[starts[i]:ends[i]]: int64[n]."""
    counts = np.zeros(len(starts), np.int64)
    for text in range(len(starts)):
        first, end = next_match(data, starts[text], starts[text], ends[text], kind, roles, classes)
        while first < end:
            counts[text] += 1
            first, end = next_match(data, starts[text], end, ends[text], kind, roles, classes)
    return counts


@njit(cache=True, nogil=True)
def fill_matches(
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    kind: int,
    roles: np.ndarray,
    classes: np.ndarray,
    matches: np.ndarray,
) -> None:
    """Writes where each match begins and ends in `data` to matches, int64[sum of counts, 2]."""
    filled = 0
    for text in range(len(starts)):
        first, end = next_match(data, starts[text], starts[text], ends[text], kind, roles, classes)
        while first < end:
            matches[filled, 0] = first
            matches[filled, 1] = end
            filled += 1
            first, end = next_match(data, starts[text], end, ends[text], kind, roles, classes)


@njit(cache=True, nogil=True)
def replace(
    data: np.ndarray,
    offsets: np.ndarray,
    spans: np.ndarray,
    kinds: np.ndarray,
    marks: np.ndarray,
    bounds: np.ndarray,
    out: np.ndarray,
) -> None:
    """Writes all documents to `out`, one behind the other, with each span replaced by its kind's mark.

    `spans` is int64[m, 2], in order and apart; mark k is marks[bounds[k]:bounds[k + 1]].
    """
    at, to = offsets[0], 0
    for span in range(len(spans)):
        kept = spans[span, 0] - at
        out[to : to + kept] = data[at : spans[span, 0]]
        to += kept
        mark = marks[bounds[kinds[span]] : bounds[kinds[span] + 1]]
        out[to : to + len(mark)] = mark
        to += len(mark)
        at = spans[span, 1]
    out[to : to + offsets[-1] - at] = data[at : offsets[-1]]
