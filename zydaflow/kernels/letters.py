"""Lower case, as Python's own `str` sees it, character by character."""

from functools import cache

import numpy as np

LOWER = 1  # str.islower()
UPPER = 2  # str.isupper()

ALPHABETS = 0x20000  # the planes from here on hold ideographs, whatever characters Unicode will add


@cache
def lower_letters() -> np.ndarray:
    """The lower-case letter of every code point, as uint32[0x110000]: a character's `str.lower()`.

    U+0130, whose lower case is two characters, stays as it is, and the final sigma is a sigma, so that the result does
    not depend on what is around a character.
    """
    letters = np.arange(0x110000, dtype=np.uint32)
    for point in _cased():
        lower = chr(point).lower()
        letters[point] = ord(lower) if len(lower) == 1 else point
    letters[0x3C2] = 0x3C3
    letters.flags.writeable = False
    return letters


@cache
def cases() -> np.ndarray:
    """The case of every code point, as uint8[0x110000] of the bits above."""
    bits = np.zeros(0x110000, np.uint8)
    for point in _cased():
        bits[point] = LOWER * chr(point).islower() | UPPER * chr(point).isupper()
    bits.flags.writeable = False
    return bits


def _cased() -> list[int]:
    """The code points that have a case, or another letter of another case."""
    return [point for point, c in enumerate(map(chr, range(ALPHABETS))) if c.islower() or c.isupper() or c.lower() != c]
