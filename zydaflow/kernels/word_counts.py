"""What the words of documents are made of."""

from functools import cache

import numpy as np
from numba import njit

from zydaflow.kernels.characters import LETTER as IS_LETTER
from zydaflow.kernels.characters import WORD, character_classes
from zydaflow.kernels.utf8 import code_point
from zydaflow.kernels.words import Words

CONTENT, LETTER, SYMBOL, WIDE = 1, 2, 4, 8
"""Kinds of characters: a letter or a number (str.isalnum()); a letter (str.isalpha()); # or …; beyond ASCII."""

FULL, FULL_CHARACTERS, LETTERED, SYMBOLIC, STOPS, DIFFERENT_STOPS = range(6)
"""Columns of `count_words`: words with a letter or a number, and their characters; words with a letter; words with # or
…; stop words, and how many different ones."""

_DOT = ord(".")
_HASH = ord("#")


@cache
def character_kinds() -> np.ndarray:
    """The kinds of every code point, as uint8[0x110000]."""
    classes = character_classes()
    kinds = np.zeros(len(classes), np.uint8)
    kinds[0x80:] = WIDE
    kinds[classes & WORD != 0] |= CONTENT
    kinds[classes & IS_LETTER != 0] |= LETTER
    kinds[ord("_")] = 0
    kinds[[ord("#"), ord("…")]] |= SYMBOL
    kinds.flags.writeable = False
    return kinds


def word_keys(words: tuple[str, ...]) -> np.ndarray:
    """Words of at most four bytes as numbers: uint32[k]."""
    keys = np.array([int.from_bytes(word.encode(), "big") for word in words], np.uint32)
    keys.flags.writeable = False
    return keys


@njit(cache=True, nogil=True)
def count_words(
    data: np.ndarray, offsets: np.ndarray, words: Words, kinds: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each document's columns above (int64[n, 6]), and each word's characters (int32).

    `stops` are the stop words, as `word_keys` gives them; at most 64.
    """
    counts = np.zeros((len(offsets) - 1, 6), np.int64)
    lengths = np.empty(len(words.spans), np.int32)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        row = counts[document]
        met = np.uint64(0)
        for word in range(words.bounds[document], words.bounds[document + 1]):
            content = text[words.spans[word, 0] : words.spans[word, 1]]
            kind, lengths[word] = _look(content, kinds)
            row[FULL] += kind & CONTENT != 0
            row[FULL_CHARACTERS] += lengths[word] if kind & CONTENT else 0
            row[LETTERED] += kind & LETTER != 0
            row[SYMBOLIC] += kind & SYMBOL != 0
            if len(content) <= 4:
                number = _find(content, stops)
                if number < len(stops):
                    row[STOPS] += 1
                    met |= np.uint64(1) << np.uint64(number)
        while met:
            row[DIFFERENT_STOPS] += 1
            met &= met - np.uint64(1)
    return counts, lengths


@njit(cache=True, nogil=True, inline="always")
def _look(word: np.ndarray, kinds: np.ndarray) -> tuple[int, int]:
    """The kinds of characters in a word, and how many they are."""
    kind = characters = 0
    for byte in word:
        kind |= kinds[byte]
        characters += (byte & 0xC0) != 0x80
    if kind & WIDE:
        kind = at = 0
        while at < len(word):
            point, width = code_point(word, at)
            kind |= kinds[point]
            at += width
    return kind, characters


@njit(cache=True, nogil=True, inline="always")
def _find(word: np.ndarray, stops: np.ndarray) -> int:
    """The number of a word of at most four bytes among the stop words; their number if it is none."""
    key = np.uint32(0)
    for byte in word:
        key = key << np.uint32(8) | np.uint32(byte)
    found = len(stops)
    for number in range(len(stops)):
        found = number if stops[number] == key else found
    return found


@njit(cache=True, nogil=True)
def median_lengths(lengths: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The median of lengths[bounds[i]:bounds[i + 1]], the mean of the two in the middle; 0 of none: float64[n]."""
    medians = np.zeros(len(bounds) - 1, np.float64)
    for document in range(len(medians)):
        if bounds[document] < bounds[document + 1]:
            medians[document] = np.median(lengths[bounds[document] : bounds[document + 1]])
    return medians


@njit(cache=True, nogil=True)
def count_symbols(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Per document: each #; each … and, not overlapping, each ... : int64[n, 2]."""
    counts = np.zeros((len(offsets) - 1, 2), np.int64)
    for document in range(len(counts)):
        hashes = ellipses = dots = 0
        first = second = np.uint8(0)  # the bytes before
        for byte in data[offsets[document] : offsets[document + 1]]:
            hashes += byte == _HASH
            dots = dots + 1 if byte == _DOT else 0
            ellipses += (dots == 3) | ((byte == 0xA6) & (second == 0x80) & (first == 0xE2))
            dots = 0 if dots == 3 else dots
            first, second = second, byte
        counts[document, 0] = hashes
        counts[document, 1] = ellipses
    return counts
