"""Quality by fastText classifiers: the probability of a label that the recipe names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from zydaflow.errors import RecipeError
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import prefix_ends
from zydaflow.recipe import ClassifierSpec
from zydaflow.signals import bins, models
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Family, Measure, Signal
from zydaflow.suggest import nearest

PREFIX = "classifier."


def check(names: Sequence[str], resources: Resources) -> None:
    """Loads the models of those of the signals that are classifiers.

    Raises RecipeError for a name that the recipe does not explain or a label that a model does not know, InputError for
    an unusable model.
    """
    for name in names:
        if name.startswith(PREFIX):
            spec = _spec(name, resources)
            models.check_known([_label(spec)], _model(name, spec), f"{_key(name)}.label")


def line(text: str, newlines: str) -> str:
    """What a model reads whole of a text, without white space around it.

    `space`: its lines, as `str.splitlines` has them, joined by spaces (DCLM). `drop`: without its newlines (datatrove).
    Besides, the word `</s>`, at which the model would stop, reads as a space.
    """
    stripped = text.strip()
    joined = " ".join(stripped.splitlines()) if newlines == "space" else stripped.replace("\n", "")
    return joined.replace(models.END, " ")


def _key(name: str) -> str:
    return f"classifiers.{name.removeprefix(PREFIX)}"


def _label(spec: ClassifierSpec) -> str:
    return spec.label.removeprefix(models.PREFIX)


def _spec(name: str, resources: Resources) -> ClassifierSpec:
    specs = dict(resources.classifiers)
    short = name.removeprefix(PREFIX)
    if short not in specs:
        known = nearest(short, specs) if specs else ""
        raise RecipeError(f"{name}: the recipe has no {_key(name)}: {{model: PATH, label: LABEL}}{known}")
    return specs[short]


def _model(name: str, spec: ClassifierSpec) -> Any:
    key = f"{_key(name)}.model"
    return models.load(models.model_path(spec.model, key), key)


def _signal(name: str) -> Signal:
    return Signal(
        name,
        "fraction",
        "probability",
        f"The probability of {_key(name)}.label for the transformed text on one line, by that fastText model; null for "
        "a text of white space alone.",
        "fastText, arXiv 1607.01759; as a filter: DCLM, arXiv 2406.11794",
        bins.SHARES,
    )


def _measure(name: str) -> Measure:
    def scores(raw: Text, transformed: Text, resources: Resources) -> dict[str, pa.Array]:
        spec = _spec(name, resources)
        return {name: score(transformed, _model(name, spec), spec)}

    def inputs(resources: Resources) -> dict[str, Any]:
        spec = _spec(name, resources)
        path = models.model_path(spec.model, f"{_key(name)}.model")
        return {
            "model": models.digest(path),
            "label": _label(spec),
            **spec.model_dump(include={"newlines", "max_bytes"}),
        }

    return Measure(name, 1, (_signal(name),), scores, inputs)


def score(text: Text, model: Any, spec: ClassifierSpec) -> pa.Array:
    """The model's probability of the label for each document: float64[n], null where there is only white space."""
    data, starts = text.data, text.offsets[:-1]
    ends = text.offsets[1:] if spec.max_bytes is None else prefix_ends(*text, spec.max_bytes)
    scores = np.full(len(text), np.nan)
    for row in range(len(text)):
        seen = line(data[starts[row] : ends[row]].tobytes().decode(), spec.newlines)
        if seen and not seen.isspace():
            scores[row] = models.probabilities(model, seen)[_label(spec)]
    return pa.array(scores, mask=np.isnan(scores))


CLASSIFIER = Family(PREFIX, _signal, _measure)
