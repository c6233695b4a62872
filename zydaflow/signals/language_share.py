"""How much of a document is in a language, paragraph by paragraph."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from zydaflow.kernels.text import Text
from zydaflow.signals import bins, models
from zydaflow.signals.language import MIN_LETTERS, SOURCE, decide, inputs, model_of
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Family, Measure, Signal

PREFIX = "language_share."
NEWLINE = 10


def check(names: Sequence[str], resources: Resources) -> None:
    """Raises RecipeError for one of these signals whose label the model does not know, InputError without a model."""
    for name in names:
        if name.startswith(PREFIX):
            models.check_known([name.removeprefix(PREFIX)], model_of(resources), name)


def _signal(name: str) -> Signal:
    return Signal(
        name,
        "fraction",
        "of letters",
        f"The letters of the transformed text's lines in this language, over those of all lines of {MIN_LETTERS} "
        "letters or more, of each line its first language.max_bytes bytes; null (undetermined) where there are none.",
        SOURCE,
        bins.SHARES,
    )


def _measure(name: str) -> Measure:
    label = name.removeprefix(PREFIX)

    def shares(raw: Text, transformed: Text, resources: Resources) -> dict[str, pa.Array]:
        return {name: _shares(transformed, label, resources)}

    return Measure(name, 1, (_signal(name),), shares, inputs)


def _shares(text: Text, label: str, resources: Resources) -> pa.Array:
    """Share by document, float64[n] with nulls."""
    starts, ends, document = lines_of(text)
    letters, labels, _ = decide(model_of(resources), text.data, starts, ends, resources.language_bytes)
    weights = np.where(letters >= MIN_LETTERS, letters, 0)
    whole = np.bincount(document, weights, len(text))
    part = np.bincount(document, np.where(labels == label, weights, 0), len(text))
    return pa.array(np.divide(part, whole, where=whole > 0, out=np.zeros(len(text))), mask=whole == 0)


def lines_of(text: Text) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each line starts and ends in the data, without its newline, and its document: int64[lines] each."""
    data, offsets = text
    newlines = np.flatnonzero(data[offsets[0] : offsets[-1]] == NEWLINE) + offsets[0]
    starts = np.sort(np.concatenate([offsets[:-1], newlines + 1]))
    ends = np.sort(np.concatenate([newlines, offsets[1:]]))
    counts = np.diff(np.searchsorted(newlines, offsets)) + 1
    return starts, ends, np.repeat(np.arange(len(text)), counts)


LANGUAGE_SHARE = Family(PREFIX, _signal, _measure)
