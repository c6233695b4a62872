"""Texts → the sets of their shingles' hashes, for the exact Jaccard."""

import numpy as np
from numba import njit

from zydaflow.kernels.normalise import normalise, room
from zydaflow.kernels.shingles import begin, next_shingles, window


@njit(cache=True, nogil=True)
def most(offsets: np.ndarray, by_word: bool) -> int:
    """How many shingles the documents can have at most together: a word takes two bytes with its space, or three."""
    units = 0
    for document in range(len(offsets) - 1):
        length = offsets[document + 1] - offsets[document]
        units += (length + 1) // 2 if by_word else length
    return units


@njit(cache=True, nogil=True)
def fill_sets(
    data: np.ndarray,
    offsets: np.ndarray,
    letters: np.ndarray,
    table: np.ndarray,
    by_word: bool,
    size: int,
    hashes: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Writes each document's hashes to hashes[bounds[i]:bounds[i + 1]], sorted and each once; bounds[0] is 0."""
    longest = 0
    for document in range(len(offsets) - 1):
        longest = max(longest, offsets[document + 1] - offsets[document])
    text = np.empty(room(longest), np.uint8)
    reader = window(size)
    for document in range(len(offsets) - 1):
        first = bounds[document]
        length = normalise(data, offsets[document], offsets[document + 1], letters, text)
        begin(reader, by_word)
        end = first
        while reader.state[0] < length:
            end += next_shingles(text, length, by_word, size, table, reader, hashes[end:])
        shingles = hashes[first:end]
        shingles.sort()
        bounds[document + 1] = first + keep_first(shingles)


@njit(cache=True, nogil=True)
def keep_first(values: np.ndarray) -> int:
    """Moves the distinct values of a sorted array to its front, and returns how many they are."""
    count = 0
    for i in range(len(values)):
        if i == 0 or values[i] != values[i - 1]:
            values[count] = values[i]
            count += 1
    return count
