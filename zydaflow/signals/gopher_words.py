"""Gopher's signals over words (MassiveText, arXiv 2112.11446, appendix A.1), and what dolma makes of them."""

from functools import partial

import numpy as np

from zydaflow.kernels.text import Text
from zydaflow.kernels.word_counts import (
    DIFFERENT_STOPS,
    FULL,
    FULL_CHARACTERS,
    LETTERED,
    STOPS,
    SYMBOLIC,
    character_kinds,
    count_symbols,
    count_words,
    median_lengths,
    word_keys,
)
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Kind, Measure, Signal
from zydaflow.signals.splitters import SPLITTERS, Splitter

GOPHER = "Gopher, arXiv 2112.11446, as in datatrove"
DOLMA = "dolma, arXiv 2402.00159"
STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
_KEYS = word_keys(STOP_WORDS)


def _gopher(splitter: Splitter, raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words = splitter.split(transformed)
    counts = count_words(*transformed, words, character_kinds(), _KEYS)[0].T
    hashes, ellipses = count_symbols(*transformed).T
    every = np.diff(words.bounds)
    columns = {
        "gopher.word_count": counts[FULL],
        "gopher.mean_word_length": ratio(counts[FULL_CHARACTERS], counts[FULL]),
        "gopher.hash_to_word_ratio": ratio(hashes, every),
        "gopher.ellipsis_to_word_ratio": ratio(ellipses, every),
        "gopher.alphabetic_word_fraction": ratio(counts[LETTERED], every),
        "gopher.stop_word_count": counts[DIFFERENT_STOPS],
    }
    return {name + splitter.suffix: column for name, column in columns.items()}


def _dolma(splitter: Splitter, raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words = splitter.split(transformed)
    counts, lengths = count_words(*transformed, words, character_kinds(), _KEYS)
    every = np.diff(words.bounds)
    columns = {
        "dolma.word_count": every,
        "dolma.median_word_length": median_lengths(lengths, words.bounds),
        "dolma.symbol_to_word_ratio": ratio(counts[:, SYMBOLIC], every),
        "dolma.stop_word_count": counts[:, STOPS],
    }
    return {name + splitter.suffix: column for name, column in columns.items()}


def _gopher_signals(splitter: Splitter) -> tuple[Signal, ...]:
    def signal(name: str, kind: Kind, unit: str, specification: str, edges: np.ndarray) -> Signal:
        return Signal(
            f"gopher.{name}{splitter.suffix}", kind, unit, f"{specification}; {splitter.words}.", GOPHER, edges
        )

    full = "words with a letter or a number"
    return (
        signal("word_count", "integer", "words", f"The number of {full}", bins.SIZES),
        signal("mean_word_length", "number", "characters", f"The mean length of {full}", bins.WORD_LENGTHS),
        signal("hash_to_word_ratio", "number", "# per word", "All # in the text over all words", bins.SHARES),
        signal(
            "ellipsis_to_word_ratio",
            "number",
            "ellipses per word",
            "All … and ..., not overlapping, in the text over all words",
            bins.SHARES,
        ),
        signal("alphabetic_word_fraction", "fraction", "of words", "Words with a letter over all words", bins.SHARES),
        signal(
            "stop_word_count",
            "integer",
            "different words",
            f"How many of {', '.join(STOP_WORDS)} are words of the text, as they are written here",
            bins.COUNTS,
        ),
    )


def _dolma_signals(splitter: Splitter) -> tuple[Signal, ...]:
    def signal(name: str, kind: Kind, unit: str, specification: str, edges: np.ndarray) -> Signal:
        return Signal(f"dolma.{name}{splitter.suffix}", kind, unit, f"{specification}; {splitter.words}.", DOLMA, edges)

    return (
        signal("word_count", "integer", "words", "The number of all words", bins.SIZES),
        signal(
            "median_word_length",
            "number",
            "characters",
            "The median length of all words, of an even number of them the mean of the two in the middle",
            bins.WORD_LENGTHS,
        ),
        signal("symbol_to_word_ratio", "fraction", "of words", "Words that hold # or … over all words", bins.SHARES),
        signal(
            "stop_word_count",
            "integer",
            "words",
            f"All words that are {', '.join(STOP_WORDS[:-1])} or {STOP_WORDS[-1]}, as they are written here",
            bins.SIZES,
        ),
    )


WORDS = tuple(
    Measure(f"{tool}.words{splitter.suffix}", 1, signals(splitter), partial(function, splitter), splitter.inputs)
    for splitter in SPLITTERS
    for tool, signals, function in (("gopher", _gopher_signals, _gopher), ("dolma", _dolma_signals, _dolma))
)
