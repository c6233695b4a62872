"""Long runs of one character become one such character."""

import numpy as np
from numba import njit

STRIDE = 9  # of the search: a run of 10 bytes or more, whose last nine hold exactly one multiple of 9, is never missed
LEAD, TAIL = 0xC2, 0xA0  # the bytes of U+00A0, the one character beyond ASCII that collapses; a 0xC2 only ever leads


@njit(cache=True, nogil=True)
def _run_around(data: np.ndarray, begin: int, at: int, stop: int) -> tuple[int, int, int]:
    """The run in data[begin:stop] of the character at data[at]: first byte, end, bytes of the character.

    A byte of a character that is neither ASCII nor U+00A0 is a run by itself.
    """
    first, last = at, at + 1
    if data[at] < 0x80:
        while first > begin and data[first - 1] == data[at]:
            first -= 1
        while last < stop and data[last] == data[at]:
            last += 1
        return first, last, 1
    if data[at] == TAIL and data[at - 1] == LEAD:
        first -= 1
    if data[first] != LEAD or data[first + 1] != TAIL:
        return at, at + 1, 1
    last = first + 2
    while first - 2 >= begin and data[first - 2] == LEAD and data[first - 1] == TAIL:
        first -= 2
    while last < stop and data[last] == LEAD and data[last + 1] == TAIL:
        last += 2
    return first, last, 2


@njit(cache=True, nogil=True)
def _next_run(data: np.ndarray, begin: int, stop: int, thresholds: np.ndarray) -> tuple[int, int, int]:
    """The first run in data[begin:stop] that collapses: first byte, end, bytes of its character; or stop, stop, 0."""
    at = begin + STRIDE
    while at < stop:
        threshold = thresholds[data[at]]
        if threshold and (data[at] == data[at - 1] or data[at] >= 0x80):
            first, last, width = _run_around(data, begin, at, stop)
            if last - first >= threshold * width:
                return first, last, width
            at = last
        at += STRIDE
    return stop, stop, 0


@njit(cache=True, nogil=True)
def collapsed_lengths(data: np.ndarray, offsets: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many bytes of each document will be left: int64[n].

    `thresholds` is int64[256]: the characters from which on a run collapses, at least 10, by a byte of the character
    (ASCII, or either byte of U+00A0); 0 where it never does.
    """
    lengths = np.empty(len(offsets) - 1, np.int64)
    for document in range(len(lengths)):
        at, stop = offsets[document], offsets[document + 1]
        length = stop - at
        while at < stop:
            first, at, width = _next_run(data, at, stop, thresholds)
            length -= at - first - width
        lengths[document] = length
    return lengths


@njit(cache=True, nogil=True)
def collapse(
    data: np.ndarray, offsets: np.ndarray, thresholds: np.ndarray, out: np.ndarray, out_offsets: np.ndarray
) -> None:
    """Writes the collapsed documents to `out` at `out_offsets`, which are the sums of `collapsed_lengths`."""
    for document in range(len(offsets) - 1):
        at, stop, to = offsets[document], offsets[document + 1], out_offsets[document]
        while at < stop:
            first, last, width = _next_run(data, at, stop, thresholds)
            kept = first + width - at
            out[to : to + kept] = data[at : at + kept]
            to += kept
            at = last
