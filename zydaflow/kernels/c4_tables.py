"""What C4's kernels look characters and phrases up in."""

from functools import cache
from typing import NamedTuple

import numpy as np

from zydaflow.kernels.automaton import Automaton, Pattern
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.letters import cases
from zydaflow.kernels.lines import breaks
from zydaflow.kernels.phrases import build_folded

BRACE, STOP = 4, 8  # kinds of bytes, besides those of `lines.breaks`: an opening curly bracket; . ? !
LOREM, JAVASCRIPT, POLICY = 0, 1, 2  # groups of phrases

PHRASES = {
    "lorem ipsum": LOREM,
    "javascript": JAVASCRIPT,
    "terms of use": POLICY,
    "privacy policy": POLICY,
    "cookie policy": POLICY,
    "uses cookies": POLICY,
    "use of cookies": POLICY,
    "use cookies": POLICY,
}
MARKS = (b"[edit]", b"[citation needed]")  # of citations, besides [1]
_KELVIN = "\u212a"  # the one character beyond ASCII whose lower case is a letter of the phrases


class Tables(NamedTuple):
    """Tables by byte and by code point."""

    kinds: np.ndarray  # uint8[256]: kinds of bytes
    classes: np.ndarray  # uint8 by code point, of `characters`
    cases: np.ndarray  # uint8 by code point, of `letters`
    phrases: Automaton  # none of them the end of another
    marks: np.ndarray  # uint8 (k, m): MARKS, each with a zero after it


@cache
def c4_tables() -> Tables:
    """The tables, by this Python's Unicode version."""
    kinds = breaks().copy()
    kinds[ord("{")] = BRACE
    kinds[[*b".?!"]] = STOP
    spellings = [(text, group) for phrase, group in PHRASES.items() for text in {phrase, phrase.replace("k", _KELVIN)}]
    marks = np.zeros((len(MARKS), max(map(len, MARKS)) + 1), np.uint8)
    for row, mark in zip(marks, MARKS, strict=True):
        row[: len(mark)] = [*mark]
    phrases = build_folded([Pattern(text.encode(), group) for text, group in sorted(spellings)])
    return Tables(kinds, character_classes(), cases(), phrases, marks)
