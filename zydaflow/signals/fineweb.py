"""FineWeb's signals (arXiv 2406.17557): lines are the pieces between newlines that are not blank."""

from functools import cache

import numpy as np

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.fineweb import SHORT, count_fineweb_lines
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SOURCE = "FineWeb, arXiv 2406.17557"
MARKS = ".?!\"'"


@cache
def _marks() -> np.ndarray:
    marks = np.zeros(0x110000, np.bool_)
    marks[[*map(ord, MARKS)]] = True
    return marks


def _lines(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = count_fineweb_lines(*transformed, character_classes(), _marks())
    lines, marked, short, newlines, words = counts.T
    return {
        "fineweb.line_punctuation_fraction": ratio(marked, lines),
        "fineweb.short_line_fraction": ratio(short, lines),
        "fineweb.newline_to_word_ratio": ratio(newlines, words),
    }


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
            "fineweb.short_line_fraction",
            "fraction",
            "of lines",
            f"Lines between newlines of at most {SHORT} characters over all that are not blank.",
            SOURCE,
            bins.SHARES,
        ),
        Signal(
            "fineweb.newline_to_word_ratio",
            "number",
            "newlines per word",
            "Newlines over words, as str.split() splits them.",
            SOURCE,
            bins.SHARES,
        ),
    ),
    _lines,
)
