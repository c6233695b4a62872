"""Gopher's signals over n-grams of words (MassiveText, arXiv 2112.11446, table A1), and what dolma makes of them.

The paper leaves open which occurrences count, over which characters. datatrove and dolma differ in both.
"""

from functools import partial

import numpy as np

from zydaflow.kernels.ngrams import ALL, COUNTED, LONGEST, SKIPPED, TOP, TOP_CHARACTERS, TOP_COUNT, repetition
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import count_characters
from zydaflow.kernels.words import hash_words
from zydaflow.signals import bins
from zydaflow.signals.gopher_words import DOLMA, GOPHER
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal
from zydaflow.signals.splitters import SPLITTERS, Splitter


def _ngrams(splitter: Splitter, raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words = splitter.split(transformed)
    hashes, lengths = hash_words(*transformed, words)
    found = repetition(hashes, lengths, words.bounds)
    characters = count_characters(*transformed)
    of_words = np.diff(np.append(0, np.cumsum(lengths, dtype=np.int64))[words.bounds])
    columns = {}
    for n in range(2, TOP + 1):
        count, length = found.top[:, n - 2, TOP_COUNT], found.top[:, n - 2, TOP_CHARACTERS]
        columns[f"gopher.top_ngram_{n}_fraction"] = ratio(count * (length + n - 1), characters)
        columns[f"dolma.top_ngram_{n}_fraction"] = ratio(count * length, of_words)
    for n in range(TOP + 1, LONGEST + 1):
        row = found.duplicates[:, n - TOP - 1]
        columns[f"gopher.duplicate_ngram_{n}_fraction"] = ratio(row[:, SKIPPED], characters)
        columns[f"dolma.duplicate_ngram_{n}_fraction"] = ratio(row[:, COUNTED], row[:, ALL])
    return {name + splitter.suffix: column for name, column in columns.items()}


def _top(splitter: Splitter, n: int) -> tuple[Signal, Signal]:
    name, most = (
        f"top_ngram_{n}_fraction{splitter.suffix}",
        f"the most frequent {n} words in a row, the first of several",
    )
    gopher = f"Characters of {most}, joined by spaces, times its occurrences, over the text's; {splitter.words}."
    dolma = f"Characters of {most}, times its occurrences, over those of all words; {splitter.words}."
    return (
        Signal(f"gopher.{name}", "number", "of characters", gopher, GOPHER, bins.SHARES),
        Signal(f"dolma.{name}", "number", "of characters", dolma, DOLMA, bins.SHARES),
    )


def _duplicate(splitter: Splitter, n: int) -> tuple[Signal, Signal]:
    name, grams = f"duplicate_ngram_{n}_fraction{splitter.suffix}", f"{n} words in a row"
    gopher = (
        f"Characters of the words in any {grams} that have been met before, read from the left and on behind each such "
        f"find, over the text's; {splitter.words}."
    )
    dolma = (
        f"Characters of the words in all {grams} that occur more than once, over those in all {grams}, overlapping "
        f"ones each in full; {splitter.words}."
    )
    return (
        Signal(f"gopher.{name}", "fraction", "of characters", gopher, GOPHER, bins.SHARES),
        Signal(f"dolma.{name}", "fraction", "of characters", dolma, DOLMA, bins.SHARES),
    )


def _signals(splitter: Splitter) -> tuple[Signal, ...]:
    pairs = [_top(splitter, n) for n in range(2, TOP + 1)]
    pairs += [_duplicate(splitter, n) for n in range(TOP + 1, LONGEST + 1)]
    return tuple(signal for pair in pairs for signal in pair)


NGRAMS = tuple(
    Measure(f"gopher.ngrams{splitter.suffix}", 1, _signals(splitter), partial(_ngrams, splitter), splitter.inputs)
    for splitter in SPLITTERS
)
