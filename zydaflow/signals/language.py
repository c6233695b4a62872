"""The language of a document, by a fastText model, from its start."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.kernels.characters import character_classes, count_letters
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import prefix_ends
from zydaflow.signals import bins, models
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

# With fewer letters, lid.176.ftz names another language than for the whole text in more than one of ten beginnings of
# sentences of the Universal Declaration of Human Rights, in 66 languages.
MIN_LETTERS = 20
KEY = "language.model"
SOURCE = "fastText, arXiv 1607.01759"


class Decided(NamedTuple):
    """What a model says of n stretches of text."""

    letters: np.ndarray  # int64[n]
    labels: np.ndarray  # object[n]: the likeliest language; None where there are too few letters
    scores: np.ndarray  # float64[n]: its probability, at most 1, to four decimals; NaN with the label


def check_labels(labels: Sequence[str], resources: Resources, key: str) -> None:
    """Raises RecipeError, with the recipe key, for a language that the model does not know.

    Raises InputError for an unusable model.
    """
    models.check_known(labels, model_of(resources), key)


def model_of(resources: Resources) -> Any:
    """The recipe's model. Raises InputError where there is none."""
    return models.load(_path(resources), KEY)


def _path(resources: Resources) -> str:
    if resources.language_model is None:
        raise InputError(f"{KEY}: the signals of language need a fastText model; give its path, or {models.PACKAGED}")
    return models.model_path(resources.language_model, KEY)


def inputs(resources: Resources) -> dict[str, Any]:
    """What a language depends on besides the text."""
    return {"model": models.digest(_path(resources)), "max_bytes": resources.language_bytes}


def decide(model: Any, data: np.ndarray, starts: np.ndarray, ends: np.ndarray, limit: int) -> Decided:
    """The language of each stretch data[starts[i]:ends[i]], by its first `limit` bytes.

    Stretches are in order and do not overlap.
    """
    bounds = np.append(starts, ends[-1:])
    starts, seen = bounds[:-1], np.minimum(prefix_ends(data, bounds, limit), ends)
    letters = count_letters(data, starts, seen, character_classes())
    labels, scores = np.full(len(starts), None, object), np.full(len(starts), np.nan)
    for row in np.flatnonzero(letters >= MIN_LETTERS):
        for score, label in model.predict(_line(data[starts[row] : seen[row]]), 1, 0.0, "strict"):
            labels[row] = label.removeprefix(models.PREFIX)
            scores[row] = np.round(min(float(score), 1.0), 4)
    return Decided(letters, labels, scores)


def _line(prefix: np.ndarray) -> bytes:
    """What the model reads whole. (The binding takes UTF-8, and would make it of text.)"""
    return prefix.tobytes().replace(b"\n", b" ").replace(models.END.encode(), b" ") + b"\n"


def _language(raw: Text, transformed: Text, resources: Resources) -> dict[str, pa.Array]:
    data, offsets = raw
    decided = decide(model_of(resources), data, offsets[:-1], offsets[1:], resources.language_bytes)
    return {
        "language": pa.array(decided.labels, pa.string()),
        "language_score": pa.array(decided.scores, mask=np.isnan(decided.scores)),
    }


LANGUAGE = Measure(
    "language",
    1,
    (
        Signal(
            "language",
            "label",
            "label of the model",
            f"The likeliest language of the text's start; null (undetermined) if it has under {MIN_LETTERS} letters.",
            SOURCE,
            np.empty(0),
        ),
        Signal(
            "language_score",
            "fraction",
            "probability",
            "The model's probability of that language, at most 1, to four decimals; null where it is undetermined.",
            SOURCE,
            bins.SHARES,
        ),
    ),
    _language,
    inputs,
)
