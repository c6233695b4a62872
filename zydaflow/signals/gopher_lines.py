"""Gopher's signals over lines and paragraphs (MassiveText, arXiv 2112.11446, table A1).

The paper leaves open what a line is and which copies count. Here it is what datatrove makes of it; dolma's reading is
in `dolma_lines`. `fineweb.duplicate_line_character_fraction` comes from the same pass over the text.
"""

import numpy as np

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.duplicates import count_duplicate_lines, count_duplicate_paragraphs
from zydaflow.kernels.lines import breaks, count_marked_lines
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import count_characters
from zydaflow.signals import bins, fineweb
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SOURCE = "Gopher, arXiv 2112.11446, as in datatrove"


def _marked(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    lines, bullets, ellipses = count_marked_lines(*transformed, breaks(), character_classes()).T
    return {
        "gopher.bullet_line_fraction": ratio(bullets, lines),
        "gopher.ellipsis_line_fraction": ratio(ellipses, lines),
    }


def _duplicates(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = count_duplicate_lines(*transformed, character_classes()).T
    lines, empty, at_ends, repeated, repeated_characters, _, _, blank_characters = counts
    characters = count_characters(*transformed)
    return {
        "gopher.duplicate_line_fraction": ratio(repeated + (at_ends == 2), lines - empty + at_ends),
        "gopher.duplicate_line_character_fraction": ratio(repeated_characters, characters),
        "fineweb.duplicate_line_character_fraction": ratio(
            repeated_characters - blank_characters, characters - (lines - 1)
        ),
    }


def _paragraphs(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    paragraphs, repeated, characters = count_duplicate_paragraphs(*transformed, character_classes()).T
    return {
        "gopher.duplicate_paragraph_fraction": ratio(repeated, paragraphs),
        "gopher.duplicate_paragraph_character_fraction": ratio(characters, count_characters(*transformed)),
    }


def _fraction(name: str, unit: str, specification: str) -> Signal:
    return Signal(name, "fraction", unit, specification, SOURCE, bins.SHARES)


MARKED = Measure(
    "gopher.marked_lines",
    1,
    (
        _fraction(
            "gopher.bullet_line_fraction",
            "of lines",
            "Lines, as str.splitlines() splits them, that begin with • or -, white space before it aside, over all.",
        ),
        _fraction(
            "gopher.ellipsis_line_fraction",
            "of lines",
            "Lines, as str.splitlines() splits them, that end with ... or …, white space after it aside, over all.",
        ),
    ),
    _marked,
)

DUPLICATES = Measure(
    "gopher.duplicate_lines",
    1,
    (
        _fraction(
            "gopher.duplicate_line_fraction",
            "of lines",
            "What is between runs of newlines and equals an earlier piece, over all pieces, an empty one before a "
            "newline at the text's start and after one at its end included.",
        ),
        _fraction(
            "gopher.duplicate_line_character_fraction",
            "of characters",
            "Characters of lines between newlines that equal an earlier line, over all characters of the text.",
        ),
        fineweb.DUPLICATE_LINES,
    ),
    _duplicates,
)

PARAGRAPHS = Measure(
    "gopher.duplicate_paragraphs",
    1,
    (
        _fraction(
            "gopher.duplicate_paragraph_fraction",
            "of paragraphs",
            "What is between runs of two or more newlines, white space at the text's ends aside, and equals an earlier "
            "piece, over all pieces.",
        ),
        _fraction(
            "gopher.duplicate_paragraph_character_fraction",
            "of characters",
            "Characters of paragraphs (as in gopher.duplicate_paragraph_fraction) that equal an earlier one, over all "
            "characters of the text.",
        ),
    ),
    _paragraphs,
)
