"""What dolma makes of Gopher's signals over lines (arXiv 2402.00159; its tagger gopher_v1)."""

import numpy as np

from zydaflow.kernels.characters import character_classes, count_visible
from zydaflow.kernels.duplicates import count_duplicate_lines
from zydaflow.kernels.lines import count_marked_newlines
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SOURCE = "dolma, arXiv 2402.00159"


def _marked(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    lines, bullets, ellipses = count_marked_newlines(*transformed).T
    return {
        "dolma.bullet_line_fraction": ratio(bullets, lines),
        "dolma.ellipsis_line_fraction": ratio(ellipses, lines),
    }


def _duplicates(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    lines, empty, _, _, _, copies, characters, _ = count_duplicate_lines(*transformed, character_classes()).T
    visible = count_visible(*transformed, character_classes())
    return {
        "dolma.duplicate_line_fraction": ratio(copies + np.where(empty > 1, empty, 0), lines),
        "dolma.duplicate_line_character_fraction": ratio(characters, np.maximum(visible, 1)),
    }


def _fraction(name: str, unit: str, specification: str) -> Signal:
    return Signal(name, "fraction", unit, specification, SOURCE, bins.SHARES)


MARKED = Measure(
    "dolma.marked_lines",
    1,
    (
        _fraction(
            "dolma.bullet_line_fraction",
            "of lines",
            "Lines between newlines, empty ones included, whose first character is * or -, over all.",
        ),
        _fraction(
            "dolma.ellipsis_line_fraction",
            "of lines",
            "Lines between newlines, empty ones included, whose last character is …, over all.",
        ),
    ),
    _marked,
)

DUPLICATES = Measure(
    "dolma.duplicate_lines",
    1,
    (
        _fraction(
            "dolma.duplicate_line_fraction",
            "of lines",
            "Lines between newlines, empty ones included, that any other line equals, the first of them too, over all.",
        ),
        Signal(
            "dolma.duplicate_line_character_fraction",
            "number",
            "of characters",
            "Characters of lines that any other line equals, white space included, over the text's characters that "
            "are not white space (at least 1): it may exceed 1.",
            SOURCE,
            bins.SHARES,
        ),
    ),
    _duplicates,
)
