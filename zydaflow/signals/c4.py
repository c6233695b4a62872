"""C4's signals (arXiv 1910.10683, section 2.2).

Lines are the pieces between the line breaks of str.splitlines() that are not blank, without white space at their ends.
After the transform `c4`, all of this is about the lines that C4 keeps.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import xxhash

from zydaflow.kernels.automaton import Automaton, Pattern
from zydaflow.kernels.c4 import count_c4
from zydaflow.kernels.c4_tables import c4_tables
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.letters import lower_letters
from zydaflow.kernels.phrases import build_folded, count_standing
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal
from zydaflow.signals.word_list import read_words

SOURCE = "C4, arXiv 1910.10683"


def _lines(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    lines, terminated, sentences, brackets, lorem, javascript, policy = count_c4(*transformed, c4_tables()).T
    return {
        "c4.line_count": lines,
        "c4.terminal_punctuation_line_fraction": ratio(terminated, lines),
        "c4.sentence_count": sentences,
        "c4.curly_bracket_count": brackets,
        "c4.lorem_ipsum_count": lorem,
        "c4.javascript_line_count": javascript,
        "c4.policy_line_count": policy,
    }


class _Words(NamedTuple):
    """A list of different words in lower case, to be found."""

    words: tuple[str, ...]
    automaton: Automaton
    lengths: np.ndarray  # int64: of the words, in characters


@lru_cache(maxsize=4)
def _bad_words(path: str) -> _Words:
    letters = lower_letters()
    words = sorted({"".join(chr(letters[ord(letter)]) for letter in word) for word in read_words(path)})
    automaton = build_folded([Pattern(word.encode(), 0) for word in words])
    return _Words(tuple(words), automaton, np.array([len(word) for word in words]))


def _found(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    _, automaton, lengths = _bad_words(resources.bad_words)
    counts = count_standing(*transformed, automaton, lengths, lower_letters(), character_classes())
    return {"c4.bad_word_count": counts}


def _list(resources: Resources) -> Any:
    return xxhash.xxh3_128_hexdigest(repr(_bad_words(resources.bad_words).words).encode())


def _count(name: str, unit: str, specification: str) -> Signal:
    return Signal(name, "integer", unit, specification, SOURCE, bins.COUNTS)


LINES = Measure(
    "c4.lines",
    1,
    (
        _count("c4.line_count", "lines", "Lines, as str.splitlines() splits them, that are not blank."),
        Signal(
            "c4.terminal_punctuation_line_fraction",
            "fraction",
            "of lines",
            'Lines that end with . ? ! or " and not with ..., white space after that aside, over all not blank.',
            SOURCE,
            bins.SHARES,
        ),
        _count(
            "c4.sentence_count",
            "sentences",
            "Lines not blank, plus one for each . ? or ! that any closing quotation marks and brackets follow, and "
            "white space, and in the same line a character that is no lower-case letter and no stop.",
        ),
        _count("c4.curly_bracket_count", "characters", "Occurrences of {."),
        _count("c4.lorem_ipsum_count", "matches", "Occurrences of lorem ipsum, in capitals or not."),
        _count("c4.javascript_line_count", "lines", "Lines with javascript in them, in capitals or not."),
        _count(
            "c4.policy_line_count",
            "lines",
            "Lines with terms of use, privacy policy, cookie policy, uses cookies, use of cookies or use cookies in "
            "them, in capitals or not.",
        ),
    ),
    _lines,
)

BAD_WORDS = Measure(
    "c4.bad_words",
    1,
    (
        _count(
            "c4.bad_word_count",
            "matches",
            "Places where an entry of the list bad_words stands, in capitals or not, with no word character (\\w) on "
            "either side.",
        ),
    ),
    _found,
    _list,
)
