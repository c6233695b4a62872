"""Words and phrases, found without regard to case."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from zydaflow.kernels.automaton import Automaton, Pattern, build
from zydaflow.kernels.characters import WORD
from zydaflow.kernels.utf8 import code_point, code_point_before


def build_folded(patterns: Sequence[Pattern]) -> Automaton:
    """The automaton of patterns in lower case that reads the capitals A to Z as their lower-case letters."""
    automaton = build(patterns)
    columns = automaton.columns.copy()
    columns[ord("A") : ord("Z") + 1] = columns[ord("a") : ord("z") + 1]
    return automaton._replace(columns=columns)


@njit(cache=True, nogil=True)
def _stands_alone(text: np.ndarray, end: int, length: int, classes: np.ndarray) -> bool:
    """Whether no word character touches the `length` characters that end at text[end]."""
    if end < len(text):
        point, _ = code_point(text, end)
        if classes[point] & WORD:
            return False
    start = end
    for _ in range(length):
        point, width = code_point_before(text, start)
        start -= width
    if start == 0:
        return True
    point, _ = code_point_before(text, start)
    return not classes[point] & WORD


@njit(cache=True, nogil=True)
def _next_state(words: Automaton, state: np.int64, letter: np.int64) -> np.int64:
    """The state after a letter beyond ASCII, whose bytes are read one by one."""
    columns, transitions = words.columns, words.transitions
    if letter < 0x80:
        return np.int64(transitions[state + columns[letter]])
    if letter < 0x800:
        state = np.int64(transitions[state + columns[0xC0 | letter >> 6]])
    else:
        if letter < 0x10000:
            state = np.int64(transitions[state + columns[0xE0 | letter >> 12]])
        else:
            state = np.int64(transitions[state + columns[0xF0 | letter >> 18]])
            state = np.int64(transitions[state + columns[0x80 | letter >> 12 & 0x3F]])
        state = np.int64(transitions[state + columns[0x80 | letter >> 6 & 0x3F]])
    return np.int64(transitions[state + columns[0x80 | letter & 0x3F]])


@njit(cache=True, nogil=True)
def count_standing(
    data: np.ndarray,
    offsets: np.ndarray,
    words: Automaton,
    lengths: np.ndarray,
    letters: np.ndarray,
    classes: np.ndarray,
) -> np.ndarray:
    """Places in each document where a word of the list stands, with no word character at either side: int64[n].

    `words` are different from one another and in the lower case of `letters` (uint32 by code point); `lengths` are
    their characters, int64. Words may overlap; each counts.
    """
    columns, transitions, first_final = words.columns, words.transitions, np.uint64(words.first_final)
    row = np.int64(columns.max()) + 1
    counts = np.zeros(len(offsets) - 1, np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        state, at, total = np.uint64(0), 0, 0
        while at < len(text):
            byte = text[at]
            if byte < 0x80:
                state = np.uint64(transitions[state + np.uint64(columns[byte])])
                at += 1
            else:
                point, width = code_point(text, at)
                state = np.uint64(_next_state(words, np.int64(state), np.int64(letters[point])))
                at += width
            if state >= first_final:
                final = np.int64(state - first_final) // row
                for word in words.patterns[words.ends[final] : words.ends[final + 1]]:
                    total += _stands_alone(text, at, lengths[word], classes)
        counts[document] = total
    return counts
