"""Classes of characters, as Python's own `re` and `str` see them, and counts of characters by class."""

import re
import string
import unicodedata
from functools import cache

import numpy as np
from numba import njit

from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import code_point

WORD = 1  # \w
SPACE = 2  # \s, which is also where str.split() splits
DIGIT = 4  # \d
SEPARATOR = 8  # between two pieces of Zyda's mean word length: \s - / \ .
KEPT = 16  # neither white space nor deleted by the normalisation of words
LETTER = 32  # str.isalpha()

RUN = 7  # of one word character: Zyda's repeated substring

# The normalisation of words: these go, as do the characters that NFC turns into them (U+037E is a semicolon).
DELETED = frozenset(string.punctuation) | {chr(c) for c in (*range(0x2018, 0x2020), *range(0x2010, 0x2016))}


@cache
def character_classes() -> np.ndarray:
    """The classes of every code point, as uint8[0x110000] of the bits above, by this Python's Unicode version."""
    everything = "".join(map(chr, range(0x110000)))
    classes = np.zeros(len(everything), np.uint8)
    for bit, pattern in ((WORD, r"\w+"), (SPACE, r"\s+"), (DIGIT, r"\d+"), (SEPARATOR, r"[\s\-/\\.]+")):
        for run in re.finditer(pattern, everything):
            classes[run.start() : run.end()] |= bit
    classes[[c for c in np.flatnonzero(classes & WORD) if chr(c).isalpha()]] |= LETTER
    classes[(classes & SPACE) == 0] |= KEPT
    classes[[c for c, normal in _changed_by_nfc(everything) if DELETED.issuperset(normal)]] &= ~np.uint8(KEPT)
    classes[[ord(c) for c in DELETED]] &= ~np.uint8(KEPT)
    classes.flags.writeable = False
    return classes


def _changed_by_nfc(characters: str) -> list[tuple[int, str]]:
    """Code points that alone become something else; U+0000, which keeps them apart here, does not."""
    normal = unicodedata.normalize("NFC", "\0".join(characters[1:])).split("\0")
    return [(c, n) for c, n in enumerate(normal, 1) if n != chr(c)]


def blank(text: Text) -> np.ndarray:
    """Which documents hold nothing but white space, if anything at all: bool[n]."""
    return _blank(*text, character_classes())


@njit(cache=True, nogil=True)
def _blank(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    blanks = np.ones(len(offsets) - 1, np.bool_)
    for document in range(len(blanks)):
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            if not classes[point] & SPACE:
                blanks[document] = False
                break
            at += width
    return blanks


@njit(cache=True, nogil=True)
def count_classes(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Per document: its characters, separators, characters neither \\w nor \\s, and digits: int64[n, 4]."""
    counts = np.zeros((len(offsets) - 1, 4), np.int64)
    for document in range(len(counts)):
        characters = separators = others = digits = 0
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            kind = classes[point]
            characters += 1
            separators += 1 if kind & SEPARATOR else 0
            others += 0 if kind & (WORD | SPACE) else 1
            digits += 1 if kind & DIGIT else 0
        counts[document, 0] = characters
        counts[document, 1] = separators
        counts[document, 2] = others
        counts[document, 3] = digits
    return counts


@njit(cache=True, nogil=True)
def count_words(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Words of each document by the normalisation of words, which need not be carried out to count them: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        words = inside = 0
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            kind = classes[point]
            kept = 1 if kind & KEPT else 0
            words += kept & ~inside
            inside = 0 if kind & SPACE else inside | kept
        counts[document] = words
    return counts


@njit(cache=True, nogil=True)
def count_visible(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The characters of each document that are not white space: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        total = 0
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            total += classes[point] & SPACE == 0
        counts[document] = total
    return counts


@njit(cache=True, nogil=True)
def count_runs(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Runs of at least RUN of one word character in each document, each run counted once: int64[n]."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        runs = length = 0
        before = np.int64(-1)
        at, stop = offsets[document], offsets[document + 1]
        while at < stop:
            point, width = code_point(data, at)
            at += width
            length = length + 1 if point == before else 1
            before = point
            if length == RUN and classes[point] & WORD:
                runs += 1
        counts[document] = runs
    return counts


@njit(cache=True, nogil=True)
def count_letters(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Letters in each data[starts[i]:ends[i]]: int64[n]."""
    counts = np.zeros(len(starts), np.int64)
    for document in range(len(counts)):
        at = starts[document]
        while at < ends[document]:
            point, width = code_point(data, at)
            at += width
            counts[document] += classes[point] & LETTER != 0
    return counts
