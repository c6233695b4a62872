"""What two texts are compared by: NFC, lower case, no punctuation, words.

The normal form of a text t is `"".join(c for c in unicodedata.normalize("NFC", t).lower() if c not in PUNCTUATION)`,
split as `str.split()` does and joined by single spaces. For word shingles, each character of a script that is written
without spaces between words (its code point is in one of the ranges of SPACELESS) is a word of its own: it is as if a
space stood before it and after it.
"""

import string
import sys
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.kernels.normalise import APART, DROP, SPACE, flag
from zydaflow.kernels.scripts import SPACELESS
from zydaflow.kernels.text import Text, from_arrow

PUNCTUATION = string.punctuation + "".join(map(chr, [*range(0x2018, 0x2020), *range(0x2010, 0x2016)]))
"""What is deleted: ASCII punctuation, typographic quotes (U+2018–201F) and dashes (U+2010–2015)."""

_CONTEXTUAL_CASE = "\u03a3\u0130"  # Σ is lowered by its place in a word, İ to two characters
_JAMO = [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]  # vowels and finals, which compose by arithmetic
_PIECE = 1 << 20  # bytes of a long text that are one Python string at a time


class Tables(NamedTuple):
    """By code point, 0 to U+10FFFF."""

    characters: np.ndarray  # uint32, for character shingles: the lower-case letter, SPACE, or DROP
    words: np.ndarray  # the same for word shingles, with APART added to the letters of SPACELESS
    contextual: np.ndarray  # bool: needs its neighbours to be normalised, so Python does the document

    def letters(self, by_word: bool) -> np.ndarray:
        """What `kernels.normalise` takes, for shingles of words or of characters."""
        return self.words if by_word else self.characters


@cache
def tables() -> Tables:
    """The tables that the kernels take, from this Python's Unicode data (`unicodedata.unidata_version`)."""
    letters = np.arange(sys.maxunicode + 1, dtype=np.uint32)
    contextual = np.zeros(sys.maxunicode + 1, bool)
    contextual[[*_JAMO, *map(ord, _CONTEXTUAL_CASE)]] = True
    for point in range(0x80, sys.maxunicode + 1):
        character = chr(point)
        if unicodedata.combining(character) or unicodedata.normalize("NFC", character) != character:
            contextual[point] = True
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and parts[0][0] != "<":
            contextual[int(parts[1], 16)] = True  # composes with a character before it
    for point in np.flatnonzero(~contextual).tolist():
        character = chr(point)
        if character.isspace():
            letters[point] = SPACE
        elif character in PUNCTUATION:
            letters[point] = DROP
        else:
            letters[point] = ord(character.lower())
    words = letters.copy()
    for first, last in SPACELESS:
        words[first : last + 1] |= APART
    return Tables(letters, words, contextual)


def prepare(texts: pa.LargeStringArray) -> Text:
    """The texts, those that need it normalised to NFC and lowered by Python, ready for `kernels.normalise`.

    Lowering is idempotent by code point, so the kernel treats all documents alike.
    """
    text = from_arrow(texts)
    flags = np.zeros(len(text), bool)
    flag(text.data, text.offsets, tables().contextual, flags)
    if not flags.any():
        return text
    mask = pa.array(flags)
    folded = pa.array([_fold(document.as_buffer()) for document in texts.filter(mask)], pa.large_string())
    return from_arrow(pc.replace_with_mask(texts, mask, folded))


def _fold(document: pa.Buffer) -> bytes:
    """NFC and lower case of one UTF-8 document, a piece at a time: neither looks beyond a space."""
    raw = memoryview(document).tobytes()
    pieces = []
    start = 0
    while start < len(raw):
        stop = raw.find(b" ", start + _PIECE)
        stop = len(raw) if stop < 0 else stop
        pieces.append(unicodedata.normalize("NFC", raw[start:stop].decode()).lower().encode())
        start = stop
    return b"".join(pieces)
