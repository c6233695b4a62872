"""FineWeb's signals (arXiv 2406.17557): lines are the pieces between newlines that are not blank."""

from functools import cache, partial
from typing import Any

import numpy as np
import regex
import xxhash

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.fineweb import FIVE, SHORT, TERMINAL, count_fineweb_lines, count_newlines
from zydaflow.kernels.letters import ALPHABETS
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal
from zydaflow.signals.splitters import SPLITTERS, Splitter

SOURCE = "FineWeb, arXiv 2406.17557"
MARKS = ".?!\"'"


@cache
def _marks() -> np.ndarray:
    marks = np.zeros(0x110000, np.uint8)
    marks[[*map(ord, MARKS)]] = FIVE
    every = "".join(map(chr, range(ALPHABETS)))
    marks[[found.start() for found in regex.finditer(r"\p{Sentence_Terminal}", every)]] |= TERMINAL
    marks.flags.writeable = False
    return marks


@cache
def _digest() -> str:
    return xxhash.xxh3_128_hexdigest(_marks().tobytes())


def _inputs(resources: Resources) -> Any:
    return {"marks": _digest()}


def _lines(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = count_fineweb_lines(*transformed, character_classes(), _marks())
    lines, marked, terminated, short, newlines, words = counts.T
    return {
        "fineweb.line_punctuation_fraction": ratio(marked, lines),
        "fineweb2.line_punctuation_fraction": ratio(terminated, lines),
        "fineweb.short_line_fraction": ratio(short, lines),
        "fineweb.newline_to_word_ratio": ratio(newlines, words),
    }


def _newlines_per_word(splitter: Splitter, raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words = np.diff(splitter.split(transformed).bounds)
    return {f"fineweb.newline_to_word_ratio{splitter.suffix}": ratio(count_newlines(*transformed), words)}


def _newlines_signal(splitter: Splitter) -> Signal:
    name, specification = f"fineweb.newline_to_word_ratio{splitter.suffix}", f"Newlines over words; {splitter.words}."
    return Signal(name, "number", "newlines per word", specification, SOURCE, bins.SHARES)


# Measured with Gopher's duplicate lines.
DUPLICATE_LINES = Signal(
    "fineweb.duplicate_line_character_fraction",
    "fraction",
    "of characters",
    "Characters of lines between newlines that are not blank and equal an earlier line, over all but newlines.",
    SOURCE,
    bins.SHARES,
)

LINES = Measure(
    "fineweb.lines",
    1,
    (
        Signal(
            "fineweb.line_punctuation_fraction",
            "fraction",
            "of lines",
            "Lines between newlines whose last character is one of . ? ! \" ' over all that are not blank.",
            SOURCE,
            bins.SHARES,
        ),
        Signal(
            "fineweb2.line_punctuation_fraction",
            "fraction",
            "of lines",
            "Lines between newlines whose last character ends sentences in some script (Unicode's Sentence_Terminal: "
            "quotation marks do not), over all that are not blank.",
            "FineWeb2, arXiv 2506.20920, as in datatrove",
            bins.SHARES,
        ),
        Signal(
            "fineweb.short_line_fraction",
            "fraction",
            "of lines",
            f"Lines between newlines of at most {SHORT} characters over all that are not blank.",
            SOURCE,
            bins.SHARES,
        ),
        _newlines_signal(SPLITTERS[0]),
    ),
    _lines,
    _inputs,
)

# With words between white space it is measured in passing, with the lines.
NEWLINES = tuple(
    Measure(
        f"fineweb.newlines{splitter.suffix}",
        1,
        (_newlines_signal(splitter),),
        partial(_newlines_per_word, splitter),
        splitter.inputs,
    )
    for splitter in SPLITTERS[1:]
)
