"""Zyda's signals over characters (arXiv 2406.01981). Lengths are in code points; `\\w`, `\\s`, `\\d` are Unicode's."""

import numpy as np

from zydaflow.kernels.characters import character_classes, count_classes, count_runs
from zydaflow.kernels.pii import ROLES, count_pii
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import count_characters
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SOURCE = "Zyda, arXiv 2406.01981"


def _characters(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    characters, separators, others, digits = count_classes(*raw, character_classes()).T
    pieces = np.where(characters > 0, separators + 1, 0)
    return {
        "zyda.mean_word_length": ratio(characters - separators, pieces),
        "zyda.fraction_non_alphanumeric": ratio(others, characters),
        "zyda.fraction_numerical": ratio(digits, characters),
    }


def _transformed(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    return {
        "zyda.transformed_length": count_characters(*transformed),
        "zyda.substrings_counts": count_runs(*transformed, character_classes()),
    }


def _pii(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    return {"zyda.pii_count": count_pii(*raw, ROLES, character_classes())}


CHARACTERS = Measure(
    "zyda.characters",
    1,
    (
        Signal(
            "zyda.mean_word_length",
            "number",
            "characters",
            "The mean length of the pieces between single white space, -, /, \\ or . characters, empty ones included.",
            SOURCE,
            bins.WORD_LENGTHS,
        ),
        Signal(
            "zyda.fraction_non_alphanumeric",
            "fraction",
            "of characters",
            "Characters that are neither word characters (\\w) nor white space, over all characters.",
            SOURCE,
            bins.SHARES,
        ),
        Signal(
            "zyda.fraction_numerical",
            "fraction",
            "of characters",
            "Digits (\\d) over all characters.",
            SOURCE,
            bins.SHARES,
        ),
    ),
    _characters,
)

TRANSFORMED = Measure(
    "zyda.transformed",
    1,
    (
        Signal(
            "zyda.transformed_length",
            "integer",
            "characters",
            "The length of the transformed text.",
            SOURCE,
            bins.SIZES,
        ),
        Signal(
            "zyda.substrings_counts",
            "integer",
            "runs",
            "Runs of seven or more of one word character in the transformed text.",
            SOURCE,
            bins.COUNTS,
        ),
    ),
    _transformed,
)

PII = Measure(
    "zyda.pii",
    1,
    (
        Signal(
            "zyda.pii_count",
            "integer",
            "matches",
            "E-mail addresses plus dotted quads of numbers from 0 to 255.",
            SOURCE,
            bins.COUNTS,
        ),
    ),
    _pii,
)
