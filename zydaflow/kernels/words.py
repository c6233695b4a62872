"""The words of documents, found where they stand in the text."""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import code_point

MULTIPLY = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(32)


class Words(NamedTuple):
    """w words of n documents; word i is data[starts[i]:stops[i]]."""

    starts: np.ndarray  # int64[w]
    stops: np.ndarray  # int64[w]
    bounds: np.ndarray  # int64[n + 1]: document d has the words bounds[d] to bounds[d + 1] - 1


def spaced_words(text: Text, classes: np.ndarray, apart: np.ndarray) -> Words:
    """What stands between white space, where each character marked in `apart` (bool by code point) is a word by itself.

    Without any, the words are those of `str.split()`. No character that stands apart has fewer than two bytes.
    """
    most = int(text.offsets[-1] - text.offsets[0] + len(text)) // 2
    words = Words(np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(len(text) + 1, np.int64))
    count = _spaced_words(*text, classes, apart, words)
    return Words(words.starts[:count], words.stops[:count], words.bounds)


@njit(cache=True, nogil=True)
def _spaced_words(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray, apart: np.ndarray, words: Words) -> int:
    count = 0
    for document in range(len(offsets) - 1):
        at, stop = offsets[document], offsets[document + 1]
        inside = False
        while at < stop:
            point, width = code_point(data, at)
            space, alone = classes[point] & SPACE != 0, apart[point]
            if inside and (space or alone):
                words.stops[count] = at
                count += 1
            if alone or not (space or inside):
                words.starts[count] = at
            if alone:
                words.stops[count] = at + width
                count += 1
            inside = not (space or alone)
            at += width
        if inside:
            words.stops[count] = stop
            count += 1
        words.bounds[document + 1] = count
    return count


@njit(cache=True, nogil=True)
def hash_words(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A hash of each word (uint64[w]), and its characters (int64[w])."""
    hashes, lengths = np.empty(len(starts), np.uint64), np.empty(len(starts), np.int64)
    for word in range(len(starts)):
        value, characters = np.uint64(0), np.int64(0)
        for byte in data[starts[word] : stops[word]]:
            value = (value ^ np.uint64(byte)) * MULTIPLY
            value ^= value >> SHIFT
            characters += (byte & 0xC0) != 0x80
        hashes[word] = value
        lengths[word] = characters
    return hashes, lengths
