"""Many literal patterns counted in one pass over the bytes: an Aho-Corasick automaton with its fail links resolved.

(Aho and Corasick, "Efficient string matching", 1975.) Bytes that no pattern holds share one column of the transitions,
and states at which a pattern ends have the highest numbers, so that the loop does one comparison per byte.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.characters import SPACE
from zydaflow.kernels.utf8 import code_point_before


class Pattern(NamedTuple):
    """A literal, not empty, whose matches are added to those of its group (0, 1, …)."""

    literal: bytes
    group: int
    anchored: bool = False  # counts only where nothing but white space follows to the end of the document


class Automaton(NamedTuple):
    """A state's number is the place of its row in `transitions`: the fourth of rows of 50 is 150."""

    columns: np.ndarray  # int32[256]: a byte's column
    transitions: np.ndarray  # int32, rows × columns: the next state
    first_final: int  # the lowest state in which a pattern ends
    ends: np.ndarray  # int64: final state i's patterns are patterns[ends[i]:ends[i + 1]]
    patterns: np.ndarray  # int64
    groups: np.ndarray  # int64: each pattern's group
    lengths: np.ndarray  # int64: each pattern's bytes; 0 for an anchored one, whose occurrences may overlap
    anchored: np.ndarray  # int64: the anchored patterns


def build(patterns: Sequence[Pattern]) -> Automaton:
    """The automaton of at least one pattern; equal literals are counted as often as they are given."""
    children, fail, found = _trie([pattern.literal for pattern in patterns])
    used = sorted({byte for pattern in patterns for byte in pattern.literal})
    columns = np.zeros(256, np.int32)
    columns[used] = np.arange(1, len(used) + 1)
    order = sorted(range(len(children)), key=lambda state: bool(found[state]))  # stable: the root stays the first
    final = [state for state in order if found[state]]
    return Automaton(
        columns,
        _transitions(children, fail, order, columns),
        (len(order) - len(final)) * (len(used) + 1),
        np.cumsum([0] + [len(found[state]) for state in final]),
        np.array([pattern for state in final for pattern in found[state]], np.int64),
        np.array([pattern.group for pattern in patterns], np.int64),
        np.array([0 if pattern.anchored else len(pattern.literal) for pattern in patterns], np.int64),
        np.flatnonzero([pattern.anchored for pattern in patterns]),
    )


def _transitions(children: list[dict[int, int]], fail: list[int], order: list[int], columns: np.ndarray) -> np.ndarray:
    """Where a state has no child for a byte, it goes where its fail link goes, which is complete before it."""
    width = int(columns.max()) + 1
    row = np.argsort(order)
    transitions = np.zeros((len(order), width), np.int32)
    for state in _breadth_first(children):
        if state:
            transitions[row[state]] = transitions[row[fail[state]]]
        for byte, child in children[state].items():
            transitions[row[state], columns[byte]] = row[child] * width
    return transitions.ravel()


def _trie(literals: Sequence[bytes]) -> tuple[list[dict[int, int]], list[int], list[list[int]]]:
    """Each state's children by byte, its fail link, and the patterns that end in it; the root is state 0."""
    children: list[dict[int, int]] = [{}]
    found: list[list[int]] = [[]]
    for number, literal in enumerate(literals):
        state = 0
        for byte in literal:
            if byte not in children[state]:
                children[state][byte] = len(children)
                children.append({})
                found.append([])
            state = children[state][byte]
        found[state].append(number)
    fail = [0] * len(children)
    for state in _breadth_first(children):
        for byte, child in children[state].items():
            link = fail[state]
            while link and byte not in children[link]:
                link = fail[link]
            fail[child] = children[link].get(byte, 0) if state else 0
            found[child] = found[child] + found[fail[child]]
    return children, fail, found


def _breadth_first(children: list[dict[int, int]]) -> list[int]:
    states = [0]
    for state in states:
        states.extend(children[state].values())
    return states


@njit(cache=True, nogil=True)
def _blank_start(data: np.ndarray, start: int, stop: int, classes: np.ndarray) -> int:
    """Where the white space that ends data[start:stop] begins."""
    while stop > start:
        point, width = code_point_before(data, stop)
        if not classes[point] & SPACE:
            break
        stop -= width
    return stop


@njit(cache=True, nogil=True)
def count_patterns(data: np.ndarray, offsets: np.ndarray, automaton: Automaton, classes: np.ndarray) -> np.ndarray:
    """Matches per document and group, each pattern's own matches not overlapping, from the left: int64[n, groups].

    An anchored pattern counts once if after one of its occurrences only white space is left in the document.
    """
    counts = np.zeros((len(offsets) - 1, automaton.groups.max() + 1), np.int64)
    columns, transitions, lengths = automaton.columns, automaton.transitions, automaton.lengths
    width = np.int64(columns.max()) + 1
    done = np.zeros(len(lengths), np.int64)  # the end of each pattern's last match
    for document in range(len(counts)):
        state = np.int64(0)
        for at in range(offsets[document], offsets[document + 1]):
            state = np.int64(transitions[state + columns[data[at]]])
            if state < automaton.first_final:
                continue
            final = (state - automaton.first_final) // width
            for pattern in automaton.patterns[automaton.ends[final] : automaton.ends[final + 1]]:
                if lengths[pattern] == 0:
                    done[pattern] = at + 1
                elif at + 1 - lengths[pattern] >= done[pattern]:
                    counts[document, automaton.groups[pattern]] += 1
                    done[pattern] = at + 1
        if len(automaton.anchored):
            blank = _blank_start(data, offsets[document], offsets[document + 1], classes)
            for pattern in automaton.anchored:
                if done[pattern] >= blank and done[pattern] > offsets[document]:
                    counts[document, automaton.groups[pattern]] += 1
    return counts
