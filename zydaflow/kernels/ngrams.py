"""Repeated n-grams of words, in three readings.

An n-gram occurs once if its beginning or its end, an (n - 1)-gram, does. So each size is looked for only where the size
below occurred again, which in ordinary text soon leaves nothing.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

TOP = 4  # 2- to 4-grams: of these, the most frequent one
LONGEST = 10  # 5- to 10-grams: of these, all that occur more than once

TOP_COUNT, TOP_CHARACTERS = range(2)
"""Columns of `Repetition.top`: how often the most frequent n-gram occurs, and the characters of its words. Of several,
the one that begins first. 0 in a document of fewer than n words."""

SKIPPED, COUNTED, COVERED, ALL = range(4)
"""Columns of `Repetition.duplicates`, all in characters of words. SKIPPED: of n-grams that have been met before, read
from the left, going on behind each one that is found. COUNTED: of all occurrences of n-grams that occur more than once,
however they overlap. COVERED: of all words inside such n-grams, each word once. ALL: of all n-grams, however they
overlap."""

_MULTIPLY = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)
_EMPTY = -1


class Repetition(NamedTuple):
    """Of n documents."""

    top: np.ndarray  # int64 (n, 3, 2): of 2-, 3- and 4-grams
    duplicates: np.ndarray  # int64 (n, 6, 4): of 5- to 10-grams


class _Room(NamedTuple):
    """Room for a document of up to w words."""

    grams: np.ndarray  # uint64 (w,): the hash of the n-gram that begins at a word
    again: np.ndarray  # bool (w,): whether it occurs more than once
    places: np.ndarray  # int32 (w,): candidates: where n-grams begin that may occur more than once, in order
    heads: np.ndarray  # int32 (w,): the first candidate with the n-gram of this one
    counts: np.ndarray  # int32 (w,): how often the n-gram occurs whose first candidate this is
    slots: np.ndarray  # int32: a table with open addressing of first candidates, _EMPTY where there is none


def repetition(hashes: np.ndarray, lengths: np.ndarray, bounds: np.ndarray) -> Repetition:
    """The repeated n-grams of n documents. N-grams are told apart by hashes of 64 bits, made of those of their words.

    Args:
        hashes, lengths: each word's hash (uint64) and its characters (int32).
        bounds: int64 (n + 1,): document i has words bounds[i] to bounds[i + 1] - 1.
    """
    documents, longest = len(bounds) - 1, int(np.diff(bounds).max(initial=0))
    room = _Room(
        np.empty(longest, np.uint64),
        np.empty(longest, np.bool_),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(_table_size(longest), np.int32),
    )
    found = Repetition(np.zeros((documents, 3, 2), np.int64), np.zeros((documents, 6, 4), np.int64))
    _repetition(hashes, lengths, bounds, room, found)
    return found


@njit(cache=True, nogil=True)
def _repetition(hashes: np.ndarray, lengths: np.ndarray, bounds: np.ndarray, room: _Room, found: Repetition) -> None:
    for document in range(len(bounds) - 1):
        start, stop = bounds[document], bounds[document + 1]
        _describe(hashes[start:stop], lengths[start:stop], room, found.top[document], found.duplicates[document])


@njit(cache=True, nogil=True)
def _describe(hashes: np.ndarray, lengths: np.ndarray, room: _Room, top: np.ndarray, duplicates: np.ndarray) -> None:
    """Fills in what is found in one document."""
    candidates = len(hashes)
    total = _characters(lengths, 0, len(lengths))
    for word in range(len(hashes)):
        room.grams[word], room.again[word], room.places[word] = hashes[word], True, word
    for n in range(2, min(LONGEST, len(hashes)) + 1):
        candidates = _lengthen(hashes, room, candidates, n)
        most = _count(room, candidates)
        if n <= TOP:
            top[n - 2, TOP_COUNT] = max(most, 1)
            top[n - 2, TOP_CHARACTERS] = _characters(lengths, _most_frequent(room, candidates, most), n)
        else:
            row = duplicates[n - TOP - 1]
            row[ALL] = _all_characters(lengths, total, n)
            _add_counted(lengths, room, candidates, n, row)
            _add_skipped(lengths, room, candidates, n, row)


@njit(cache=True, nogil=True)
def _table_size(entries: int) -> int:
    """A power of two that leaves at least half of the table empty."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def _characters(lengths: np.ndarray, begin: int | np.integer, words: int | np.integer) -> np.int64:
    total = np.int64(0)
    for length in lengths[begin : begin + words]:
        total += length
    return total


@njit(cache=True, nogil=True)
def _all_characters(lengths: np.ndarray, total: np.int64, n: int) -> np.int64:
    """Characters of all n-grams: every word is in n of them, but for those near the ends."""
    missing = np.int64(0)
    for k in range(n - 1):
        missing += (n - 1 - k) * (lengths[k] + lengths[len(lengths) - 1 - k])
    return n * total - missing


@njit(cache=True, nogil=True)
def _lengthen(hashes: np.ndarray, room: _Room, before: int, n: int) -> int:
    """Goes from (n - 1)-grams to the n-grams that may occur more than once; returns how many candidates there are."""
    candidates = 0
    for place in room.places[:before]:
        if place + n <= len(hashes) and room.again[place] and room.again[place + 1]:
            gram = room.grams[place]
            room.grams[place] = (gram ^ gram >> _SHIFT) * _MULTIPLY ^ hashes[place + n - 1]
            room.places[candidates] = place
            candidates += 1
        else:
            room.again[place] = False
    return candidates


@njit(cache=True, nogil=True)
def _count(room: _Room, candidates: int) -> np.int64:
    """Counts the n-grams of the candidates. Returns how often the most frequent one occurs."""
    slots = room.slots[: _table_size(candidates)]
    slots[:] = _EMPTY
    mask = len(slots) - 1
    most = np.int64(0)
    for i in range(candidates):
        gram = room.grams[room.places[i]]
        slot = np.int64(gram ^ gram >> _HALF) & mask
        while slots[slot] != _EMPTY and room.grams[room.places[slots[slot]]] != gram:
            slot = (slot + 1) & mask
        if slots[slot] == _EMPTY:
            slots[slot] = i
            room.counts[i] = 0
        head = slots[slot]
        room.heads[i] = head
        room.counts[head] += 1
        most = max(most, room.counts[head])
    for i in range(candidates):
        room.again[room.places[i]] = room.counts[room.heads[i]] > 1
    return most


@njit(cache=True, nogil=True)
def _most_frequent(room: _Room, candidates: int, most: np.int64) -> int:
    """Where the n-gram that occurs `most` times begins first: with the document, if none occurs again."""
    if most > 1:
        for i in range(candidates):
            if room.heads[i] == i and room.counts[i] == most:
                return room.places[i]
    return 0


@njit(cache=True, nogil=True)
def _add_counted(lengths: np.ndarray, room: _Room, candidates: int, n: int, row: np.ndarray) -> None:
    covered = np.int64(0)  # the words before this one are
    for i in range(candidates):
        if room.counts[room.heads[i]] > 1:
            place = np.int64(room.places[i])
            row[COUNTED] += _characters(lengths, place, n)
            start = max(place, covered)
            covered = place + n
            row[COVERED] += _characters(lengths, start, covered - start)


@njit(cache=True, nogil=True)
def _add_skipped(lengths: np.ndarray, room: _Room, candidates: int, n: int, row: np.ndarray) -> None:
    """Uses up the counts: they become whether the n-gram has been met, in words that are not skipped."""
    for i in range(candidates):
        room.counts[i] = 0
    free = np.int64(0)  # the first word that is not skipped
    for i in range(candidates):
        place = np.int64(room.places[i])
        if place >= free:
            if room.counts[room.heads[i]]:
                row[SKIPPED] += _characters(lengths, place, n)
                free = place + n
            room.counts[room.heads[i]] = 1
