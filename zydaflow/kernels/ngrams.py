"""Word hashes → the characters of the n-grams that occur more than once in a document.

An n-gram occurs twice only if both (n - 1)-grams in it do, so each n looks only at what the one before it left. An
n-gram's name is the place of its first occurrence; two are equal if the names of their first n - 1 words and of their
last word are, which is exact, given the hashes of words.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.shingles import BASE

TOP, COUNT, SKIPPED, REPEATED, COVERED, ALL = range(6)
"""Columns of `count_ngrams`, by n. Characters are those of words, without what is between them.

TOP, COUNT: the characters of the most frequent n-gram, the earliest of several, and how often it occurs; 0 if the
document has fewer than n words. SKIPPED: the characters of n-grams that have been met before, where after such a one
its n words are skipped. REPEATED: of all occurrences of n-grams that occur more than once. COVERED: of words inside an
n-gram that has occurred before, each once. ALL: of all n-grams.
"""

NONE = -1
MET = -1  # instead of a count: an occurrence has been met, and not in words that are skipped
_BASE = np.uint64(BASE)
_32 = np.uint64(32)


class Room(NamedTuple):
    """Room for a document of up to m words."""

    ends: np.ndarray  # int64 (m + 1,): characters of the words before each
    words: np.ndarray  # int32 (m,): names of words
    names: np.ndarray  # int32 (m,): names of (n - 1)-grams that occur more than once, or NONE
    longer: np.ndarray  # int32 (m,): the same of n-grams
    counts: np.ndarray  # int32 (m,): occurrences by name
    active: np.ndarray  # int32 (m,): where the (n - 1)-grams that occur more than once begin, in order
    slots: np.ndarray  # int32: a table of names with open addressing, NONE where it is empty


@njit(cache=True, nogil=True)
def count_ngrams(hashes: np.ndarray, lengths: np.ndarray, bounds: np.ndarray, longest: int) -> np.ndarray:
    """int64 (n documents, longest + 1, 6): the columns above for n = 2 to `longest`; rows 0 and 1 are 0.

    Args:
        hashes, lengths: each word's hash (uint64) and its characters (int32), as `hash_words` gives them.
        bounds: document i has words bounds[i] to bounds[i + 1] - 1.
        longest: the largest n.
    """
    result = np.zeros((len(bounds) - 1, longest + 1, 6), np.int64)
    most = 0
    for document in range(len(bounds) - 1):
        most = max(most, bounds[document + 1] - bounds[document])
    room = make_room(most)
    for document in range(len(bounds) - 1):
        start, stop = bounds[document], bounds[document + 1]
        describe(hashes[start:stop], lengths[start:stop], room, result[document])
    return result


@njit(cache=True, nogil=True)
def make_room(most: int) -> Room:
    """Room for documents of up to `most` words."""
    return Room(
        np.empty(most + 1, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(table_size(most), np.int32),
    )


@njit(cache=True, nogil=True)
def table_size(entries: int) -> int:
    """A power of two that leaves at least a third of the table empty."""
    size = 16
    while 2 * size < 3 * entries:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def describe(hashes: np.ndarray, lengths: np.ndarray, room: Room, rows: np.ndarray) -> None:
    """Fills in the rows of one document."""
    m = len(hashes)
    ends = room.ends
    ends[0] = 0
    for word in range(m):
        ends[word + 1] = ends[word] + lengths[word]
    active = name_words(hashes, room)
    names, longer = room.names, room.longer
    for n in range(2, min(len(rows) - 1, m) + 1):
        rows[n, TOP] = ends[n]
        rows[n, COUNT] = 1
        for k in range(n):
            rows[n, ALL] += ends[m - k] - ends[n - 1 - k]
        if active > 0:
            active = name_longer(n, m, active, names, longer, room)
            names, longer = longer, names
            measure_repeated(n, room.active[:active], names, room, rows[n])


@njit(cache=True, nogil=True)
def name_words(hashes: np.ndarray, room: Room) -> int:
    """Names all words, and lists the places of those that occur more than once. Returns how many these are."""
    words, names, counts = room.words, room.names, room.counts
    slots = room.slots[: table_size(len(hashes))]
    slots[:] = NONE
    mask = len(slots) - 1
    for word in range(len(hashes)):
        slot = np.int64(hashes[word] >> _32) & mask
        while slots[slot] != NONE and hashes[slots[slot]] != hashes[word]:
            slot = (slot + 1) & mask
        if slots[slot] == NONE:
            slots[slot] = word
            counts[word] = 0
        words[word] = slots[slot]
        counts[slots[slot]] += 1
    active = 0
    for word in range(len(hashes)):
        repeated = counts[words[word]] > 1
        names[word] = words[word] if repeated else NONE
        room.longer[word] = NONE
        room.active[active] = word
        active += repeated
    return active


@njit(cache=True, nogil=True)
def name_longer(n: int, m: int, active: int, names: np.ndarray, longer: np.ndarray, room: Room) -> int:
    """Names the n-grams whose (n - 1)-grams both occur more than once, and lists those that themselves do.

    `longer` has NONE throughout, which is left in all of `names`. Returns how many are listed.
    """
    candidates = 0
    for place in room.active[:active]:
        if place + n <= m and names[place + 1] != NONE:
            room.active[candidates] = place
            candidates += 1
        else:
            names[place] = NONE  # no later place looks at it
    count_longer(n, room.active[:candidates], names, longer, room)
    kept = 0
    for place in room.active[:candidates]:
        names[place] = NONE
        if room.counts[longer[place]] > 1:
            room.active[kept] = place
            kept += 1
        else:
            longer[place] = NONE
    return kept


@njit(cache=True, nogil=True)
def count_longer(n: int, places: np.ndarray, names: np.ndarray, longer: np.ndarray, room: Room) -> None:
    """Names and counts the n-grams that begin at these places."""
    words, counts = room.words, room.counts
    slots = room.slots[: table_size(len(places))]
    slots[:] = NONE
    mask = len(slots) - 1
    for place in places:
        name, last = names[place], words[place + n - 1]
        slot = mix(name, last) & mask
        first = slots[slot]
        while first != NONE and (names[first] != name or words[first + n - 1] != last):
            slot = (slot + 1) & mask
            first = slots[slot]
        if first == NONE:
            first = place
            slots[slot] = place
            counts[place] = 0
        longer[place] = first
        counts[first] += 1


@njit(cache=True, nogil=True, inline="always")
def mix(name: int, last: int) -> int | np.integer:
    """A hash of 32 bits."""
    return np.int64(((np.uint64(name) << _32 | np.uint64(last)) * _BASE) >> _32)


@njit(cache=True, nogil=True)
def measure_repeated(n: int, places: np.ndarray, names: np.ndarray, room: Room, row: np.ndarray) -> None:
    """Fills in all columns but ALL, by the n-grams that occur more than once; these begin at `places`."""
    counts, ends = room.counts, room.ends
    for place in places:
        if names[place] == place and counts[place] > row[COUNT]:
            row[COUNT] = counts[place]
            row[TOP] = ends[place + n] - ends[place]
    skipped = covered = 0  # the words before these are
    for place in places:
        first = names[place]
        characters = ends[place + n] - ends[place]
        row[REPEATED] += characters
        if first != place:
            row[COVERED] += ends[place + n] - ends[max(place, covered)]
            covered = place + n
        if place >= skipped:
            if counts[first] == MET:
                row[SKIPPED] += characters
                skipped = place + n
            counts[first] = MET
