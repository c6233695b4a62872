"""Repeated n-grams of words, in three readings.

An n-gram whose beginning or end (an n-1-gram) stands once in the document stands once as well. So each size is looked
for only where the size below was found again, which in ordinary text soon leaves nothing.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

TOP = 4  # 2- to 4-grams: of these, the most frequent one
LONGEST = 10  # 5- to 10-grams: of these, all that stand more than once

TOP_COUNT, TOP_CHARACTERS = range(2)
"""Columns of `Repetition.top`: how often the most frequent n-gram stands there, and the characters of its words. Of
several, the one that begins first."""

SKIPPED, COUNTED, COVERED, ALL = range(4)
"""Columns of `Repetition.duplicates`, all in characters of words. SKIPPED: of n-grams that stood before, read from the
left, going on behind each one that is found. COUNTED: of all occurrences of n-grams that stand more than once, however
they overlap. COVERED: of all words inside such n-grams, each word once. ALL: of all n-grams, however they overlap."""

MULTIPLY = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
EMPTY = np.int64(-1)


class Repetition(NamedTuple):
    """Of n documents."""

    top: np.ndarray  # int64[n, 3, 2]: of 2-, 3- and 4-grams
    duplicates: np.ndarray  # int64[n, 6, 4]: of 5- to 10-grams


class _Work(NamedTuple):
    """Room for the longest document of w words, and a table with a place for each of them at least."""

    grams: np.ndarray  # uint64[w]: the hash of the n-gram that begins at a word
    again: np.ndarray  # bool[w + 1]: whether it may stand more than once
    slots: np.ndarray  # int64[t]: an n-gram's first place in `places`, EMPTY where there is none
    places: np.ndarray  # int64[w]: where n-grams begin that may stand more than once
    counts: np.ndarray  # int64[w]: how often the n-gram stands that begins at this place first
    first: np.ndarray  # int64[w]: the first place of the n-gram that begins at this place


def repetition(hashes: np.ndarray, lengths: np.ndarray, bounds: np.ndarray) -> Repetition:
    """The repeated n-grams of n documents, whose words are known by hash (uint64[w]) and characters (int64[w]).

    Document d's words are bounds[d] to bounds[d + 1] - 1. N-grams are told apart by hashes of 64 bits.
    """
    documents = len(bounds) - 1
    longest = int(np.diff(bounds).max(initial=0))
    table = 1 << max(4, (2 * longest - 1).bit_length())
    work = _Work(
        np.empty(longest, np.uint64),
        np.empty(longest + 1, np.bool_),
        np.empty(table, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )
    found = Repetition(np.zeros((documents, 3, 2), np.int64), np.zeros((documents, 6, 4), np.int64))
    _repetition(hashes, lengths, bounds, work, found.top, found.duplicates)
    return found


@njit(cache=True, nogil=True)
def _count(work: _Work, candidates: int) -> int:
    """Counts the n-grams at the first `candidates` of `places`. Returns how often the most frequent one stands."""
    size = np.int64(16)
    while size < 2 * candidates:
        size *= 2
    slots, mask = work.slots[:size], np.uint64(size - 1)
    slots[:] = EMPTY
    most = np.int64(0)
    for i in range(candidates):
        gram = work.grams[work.places[i]]
        slot = np.int64((gram ^ gram >> np.uint64(32)) & mask)
        while slots[slot] != EMPTY and work.grams[work.places[slots[slot]]] != gram:
            slot = (slot + 1) & np.int64(mask)
        if slots[slot] == EMPTY:
            slots[slot] = i
            work.counts[i] = 0
        head = slots[slot]
        work.first[i] = head
        work.counts[head] += 1
        most = max(most, work.counts[head])
    for i in range(candidates):
        work.again[work.places[i]] = work.counts[work.first[i]] > 1
    return most


@njit(cache=True, nogil=True)
def _characters(lengths: np.ndarray, begin: int, n: int) -> int:
    total = np.int64(0)
    for word in range(begin, begin + n):
        total += lengths[word]
    return total


@njit(cache=True, nogil=True)
def _duplicates(lengths: np.ndarray, work: _Work, candidates: int, n: int, out: np.ndarray) -> None:
    """Fills SKIPPED, COUNTED and COVERED; `counts` becomes how often each n-gram was met and not skipped."""
    free = covered = np.int64(0)  # the first word that is not skipped, and not covered
    for i in range(candidates):
        head, place = work.first[i], work.places[i]
        if work.counts[head] > 1:
            characters = _characters(lengths, place, n)
            out[COUNTED] += characters
            start = max(place, covered)
            out[COVERED] += _characters(lengths, start, place + n - start)
            covered = place + n
    for i in range(candidates):
        if work.first[i] == i:
            work.counts[i] = 0
    for i in range(candidates):
        head, place = work.first[i], work.places[i]
        if place < free:
            continue
        if work.counts[head]:
            out[SKIPPED] += _characters(lengths, place, n)
            free = place + n
        work.counts[head] = 1


@njit(cache=True, nogil=True)
def _candidates(hashes: np.ndarray, work: _Work, before: int, n: int) -> int:
    """Where n-grams begin that may stand more than once, by the (n-1)-grams at the first `before` of `places`."""
    candidates = 0
    last = len(hashes) - n
    for i in range(before):
        place = work.places[i]
        if place <= last and work.again[place] and work.again[place + 1]:
            gram = work.grams[place]
            work.grams[place] = (gram ^ gram >> SHIFT) * MULTIPLY ^ hashes[place + n - 1]
            work.places[candidates] = place
            candidates += 1
        else:
            work.again[place] = False
    return candidates


@njit(cache=True, nogil=True)
def _top(lengths: np.ndarray, work: _Work, candidates: int, most: int, n: int, out: np.ndarray) -> None:
    place = np.int64(0)  # where none stands again, the first one
    if most > 1:
        i = 0
        while work.first[i] != i or work.counts[i] < most:
            i += 1
        place = work.places[i]
    out[TOP_COUNT] = max(most, 1)
    out[TOP_CHARACTERS] = _characters(lengths, place, n)


@njit(cache=True, nogil=True)
def _all(lengths: np.ndarray, total: int, n: int) -> int:
    """Characters of all n-grams: every word is in n of them, but for those near the ends."""
    missing = np.int64(0)
    for k in range(n - 1):
        missing += (n - 1 - k) * (lengths[k] + lengths[len(lengths) - 1 - k])
    return n * total - missing


@njit(cache=True, nogil=True)
def _document(hashes: np.ndarray, lengths: np.ndarray, work: _Work, top: np.ndarray, duplicates: np.ndarray) -> None:
    words = len(hashes)
    total = lengths.sum()
    candidates = words
    for word in range(words):
        work.grams[word], work.again[word], work.places[word] = hashes[word], True, word
    for n in range(2, min(LONGEST, words) + 1):
        before = candidates
        candidates = _candidates(hashes, work, before, n)
        most = _count(work, candidates)
        if n <= TOP:
            _top(lengths, work, candidates, most, n, top[n - 2])
        else:
            duplicates[n - TOP - 1, ALL] = _all(lengths, total, n)
            _duplicates(lengths, work, candidates, n, duplicates[n - TOP - 1])


@njit(cache=True, nogil=True)
def _repetition(
    hashes: np.ndarray, lengths: np.ndarray, bounds: np.ndarray, work: _Work, top: np.ndarray, duplicates: np.ndarray
) -> None:
    for document in range(len(bounds) - 1):
        start, stop = bounds[document], bounds[document + 1]
        _document(hashes[start:stop], lengths[start:stop], work, top[document], duplicates[document])
