"""Zyda's counts of patterns and of word lists (arXiv 2406.01981), all in one pass over the text."""

from functools import lru_cache
from typing import Any

import numpy as np
import xxhash

from zydaflow.kernels.automaton import Automaton, Pattern, build, count_patterns
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import count_characters
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import WORD_LISTS, Resources
from zydaflow.signals.signal import Measure, Signal
from zydaflow.signals.word_list import Entry, read_list
from zydaflow.signals.zyda import SOURCE

PATTERNS = {
    "xml": "xml",
    "xml_declaration": "<?xml version=",
    "lorem_ipsum": "lorem ipsum",
    "https": "https://",
    "less_than": "<",
    "greater_than": ">",
    "quote_colon": '":',
    "www": "www.",
}
PATTERN_FRACTIONS = ("https", "less_than", "quote_colon", "www")
LIST_FRACTIONS = ("sexual", "profanity", "cursed_substrings")


@lru_cache(maxsize=4)
def _lists(paths: tuple[str, ...]) -> tuple[tuple[Entry, ...], ...]:
    return tuple(tuple(read_list(path)) for path in paths)


@lru_cache(maxsize=4)
def _automaton(paths: tuple[str, ...]) -> Automaton:
    """Groups 0 to 7 are the patterns, 8 to 11 the word lists."""
    patterns = [Pattern(literal.encode(), group) for group, literal in enumerate(PATTERNS.values())]
    for group, entries in enumerate(_lists(paths), len(PATTERNS)):
        patterns += [Pattern(entry.literal.encode(), group, entry.anchored) for entry in entries]
    return build(patterns)


def _matches(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = count_patterns(*raw, _automaton(resources.word_lists), character_classes()).T
    lengths = count_characters(*transformed)
    patterns = dict(zip(PATTERNS, counts, strict=False))
    lists = dict(zip(WORD_LISTS, counts[len(PATTERNS) :], strict=True))
    return (
        {f"zyda.pattern_counts.{name}": count for name, count in patterns.items()}
        | {f"zyda.pattern_fraction.{name}": ratio(patterns[name], lengths) for name in PATTERN_FRACTIONS}
        | {f"zyda.word_list_counts.{name}": count for name, count in lists.items()}
        | {f"zyda.word_list_fraction.{name}": ratio(lists[name], lengths) for name in LIST_FRACTIONS}
    )


def _inputs(resources: Resources) -> Any:
    lists = zip(WORD_LISTS, _lists(resources.word_lists), strict=True)
    return {name: xxhash.xxh3_128_hexdigest(repr(entries).encode()) for name, entries in lists}


def _count(name: str, specification: str) -> Signal:
    return Signal(name, "integer", "matches", specification, SOURCE, bins.COUNTS)


def _fraction(name: str, specification: str) -> Signal:
    return Signal(name, "fraction", "matches per character", specification, SOURCE, bins.SMALL_SHARES)


def _signals() -> tuple[Signal, ...]:
    over = "over the characters of the transformed text"
    return (
        *(
            _count(f"zyda.pattern_counts.{name}", f"Matches of {literal}, not overlapping.")
            for name, literal in PATTERNS.items()
        ),
        *(
            _fraction(f"zyda.pattern_fraction.{name}", f"Matches of {PATTERNS[name]}, {over}.")
            for name in PATTERN_FRACTIONS
        ),
        *(
            _count(f"zyda.word_list_counts.{name}", f"Matches of the entries of the list {name}, also inside words.")
            for name in WORD_LISTS
        ),
        *(
            _fraction(f"zyda.word_list_fraction.{name}", f"Matches of the entries of the list {name}, {over}.")
            for name in LIST_FRACTIONS
        ),
    )


MATCHES = Measure("zyda.matches", 1, _signals(), _matches, _inputs)
