"""Text → words: between white space, or also with each character of a script without spaces as a word; their hashes."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE, character_classes
from zydaflow.kernels.scripts import SPACELESS
from zydaflow.kernels.shingles import BASE, finish
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import code_point

GAP, APART, LEAD = 1, 2, 4
"""What a code point is: white space; a word of its own. Of a byte from 0x80 on: that it may begin one of these."""

_BASE = np.uint64(BASE)
_1 = np.uint64(1)


class Words(NamedTuple):
    """The words of n documents, in order: those of document i are bounds[i] to bounds[i + 1] - 1."""

    spans: np.ndarray  # int32 (words, 2): where each begins and ends, in bytes from its document's start
    bounds: np.ndarray  # int64 (n + 1,)


class Roles(NamedTuple):
    """What bytes and code points are to a splitter."""

    bytes: np.ndarray  # uint8[256]: GAP, LEAD or 0
    points: np.ndarray  # uint8[0x110000]: GAP, APART or 0


def split(text: Text) -> Words:
    """The words that str.split() gives. They take 8 bytes each."""
    return _words(*text, _roles(()))


def split_by_script(text: Text) -> Words:
    """The same, but each character of SPACELESS is a word of its own, as if white space stood around it."""
    return _words(*text, _roles(SPACELESS))


@cache
def _roles(apart: tuple[tuple[int, int], ...]) -> Roles:
    points = np.zeros(0x110000, np.uint8)
    points[character_classes() & SPACE != 0] = GAP
    for first, last in apart:
        points[first : last + 1] = APART
    kinds = points[:256].copy()
    kinds[0x80:] = 0
    kinds[[chr(point).encode()[0] for point in np.flatnonzero(points) if point >= 0x80]] = LEAD
    return Roles(kinds, points)


def _words(data: np.ndarray, offsets: np.ndarray, roles: Roles) -> Words:
    edges, bounds = _edges(data, offsets, roles)
    return Words(edges.reshape(-1, 2), bounds)


@njit(cache=True, nogil=True)
def _edges(data: np.ndarray, offsets: np.ndarray, roles: Roles) -> tuple[np.ndarray, np.ndarray]:
    """Where words begin and end, in turn, and the bounds of the documents' words."""
    bounds = np.zeros(len(offsets), np.int64)
    edges = np.empty(offsets[-1] - offsets[0] + len(offsets), np.int32)  # two for two bytes at most, and one for odd
    for document in range(len(offsets) - 1):
        text = data[offsets[document] : offsets[document + 1]]
        used = _split_one(text, roles, edges[2 * bounds[document] :])
        bounds[document + 1] = bounds[document] + used // 2
    return edges[: 2 * bounds[-1]], bounds


@njit(cache=True, nogil=True)
def _split_one(text: np.ndarray, roles: Roles, edges: np.ndarray) -> int:
    """Every character writes an edge and only the right ones advance: edges come too irregularly for a branch."""
    used = at = 0
    outside = 1
    while at < len(text):
        role = roles.bytes[text[at]]
        width = 1
        if role == LEAD:
            point, width = code_point(text, at)
            role = roles.points[point]
            if role == APART:
                edges[used] = at
                used += 1 - outside
                edges[used] = at
                edges[used + 1] = at + width
                used += 2
                outside = 1
                at += width
                continue
        edges[used] = at
        used += role != outside
        outside = role
        at += width
    if not outside:
        edges[used] = at
        used += 1
    return used


@njit(cache=True, nogil=True)
def hash_words(data: np.ndarray, offsets: np.ndarray, words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Each word's hash (uint64), which is equal for equal words alone but for chance, and its characters (int32)."""
    hashes = np.empty(len(words.spans), np.uint64)
    lengths = np.empty(len(words.spans), np.int32)
    for document in range(len(offsets) - 1):
        text = data[offsets[document] : offsets[document + 1]]
        for word in range(words.bounds[document], words.bounds[document + 1]):
            h = np.uint64(0)
            characters = 0
            for byte in text[words.spans[word, 0] : words.spans[word, 1]]:
                h = h * _BASE + (np.uint64(byte) + _1)
                characters += (byte & 0xC0) != 0x80
            hashes[word] = finish(h)
            lengths[word] = characters
    return hashes, lengths
