"""From datasets of good and of bad documents to a model, its evaluation and its card."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import orjson
from upath import UPath

from zydaflow.classifier import card
from zydaflow.classifier.documents import BAD, GOOD, LABELS, dataset_of, examples, labelled, recipe_of
from zydaflow.classifier.evaluate import Evaluation, evaluate
from zydaflow.classifier.examples import Examples, Shuffled
from zydaflow.classifier.fit import check_installed, fit
from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.made_of import licence
from zydaflow.recipe import Recipe
from zydaflow.signals import models
from zydaflow.storage import AnyPath, being_made, is_local, path_of

MODEL, CARD, EVALUATION = "model.bin", "README.md", "evaluation.json"


class Source(NamedTuple):
    """A dataset that was trained on."""

    name: str
    label: str
    documents: int
    bytes: int  # of its lines
    license: str


class Trained(NamedTuple):
    """What a model was made of, and how good it is."""

    sources: tuple[Source, ...]
    seed: int
    trained_on: tuple[int, int]  # good and bad documents
    held_out: str  # what it was evaluated on, in words
    evaluation: Evaluation


def train_classifier(
    good: Sequence[str],
    bad: Sequence[str],
    out: AnyPath,
    recipe: Recipe | None = None,
    evaluation: str | None = None,
    keep: float | None = None,
) -> Trained:
    """Trains a fastText model that tells good documents from bad ones; writes it to the new folder `out`.

    `good` and `bad` are names of the recipe's datasets, or paths where there is no recipe. It is evaluated on the
    documents of the file `evaluation` (columns text and label: good or bad), or else on a tenth that is left out of
    training. `keep` is the share of these for which a threshold is wished, by default that of the good ones. The
    same input gives the same files, to the byte, on one kind of machine.

    Raises RecipeError for an unknown dataset or a folder that holds anything, InputError for data that cannot be read
    or is too little, RunError where training fails.
    """
    check_installed()
    folder = _new_folder(out)
    if recipe is None:
        recipe = recipe_of([*good, *bad])
        names = [dataset.name for dataset in recipe.datasets]
        good, bad = names[: len(good)], names[len(good) :]
    if both := set(good) & set(bad):
        raise RecipeError(f"--good and --bad both have {', '.join(sorted(both))}")
    labels = dict.fromkeys(good, GOOD) | dict.fromkeys(bad, BAD)
    with TemporaryDirectory(prefix="zydaflow-") as scratch, being_made(folder) as new:
        made = Path(str(new))
        made.mkdir(parents=True)
        trained = _train(recipe, labels, Path(scratch), made / MODEL, evaluation, keep)
        _write(made, trained)
    return trained


def _new_folder(out: AnyPath) -> UPath:
    folder = path_of(out)
    if not is_local(folder):
        raise RecipeError(f"--out: {folder} is no folder of this machine; give another")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecipeError(f"--out: {folder} is no empty folder; give another")
    return folder


def _train(
    recipe: Recipe, labels: dict[str, str], scratch: Path, model: Path, file: str | None, keep: float | None
) -> Trained:
    """Trains on the labelled datasets, and evaluates on the documents of a file, or on some of their own."""
    pool = Examples(scratch / "examples")
    sources = tuple(_add(pool, recipe, name, label) for name, label in labels.items())
    training, held_out = _split(pool, scratch / "held-out", file, recipe.seed)
    _check_enough(training, "to train on")
    _check_enough(held_out, "to evaluate on")
    with open(scratch / "lines", "w", encoding="utf-8") as lines:
        training.write(lines)
    fit(scratch / "lines", len(training.good), model, recipe.seed)
    counts = int(training.good.sum()), int((~training.good).sum())
    return Trained(sources, recipe.seed, counts, _told(file), evaluate(scores(model, held_out), held_out.good, keep))


def _add(pool: Examples, recipe: Recipe, name: str, label: str) -> Source:
    dataset = dataset_of(recipe, name)
    documents, size = pool.add(examples(recipe, dataset, label == GOOD), recipe.seed)
    return Source(name, label, documents, size, licence(dataset))


def _split(pool: Examples, path: Path, file: str | None, seed: int) -> tuple[Shuffled, Shuffled]:
    """What to train on and what to evaluate on: no line is in both."""
    every = pool.shuffled()
    if file is None:
        return every.split()
    others = Examples(path)
    others.add(labelled(file), seed)
    held_out = others.shuffled()
    return every.where(~np.isin(every.hashes, held_out.hashes)), held_out


def _check_enough(part: Shuffled, what_for: str) -> None:
    for label in LABELS:
        if not (part.good == (label == GOOD)).any():
            raise InputError(f"there are no {label} documents {what_for}; give more")


def _write(folder: Path, trained: Trained) -> None:
    found = trained.evaluation
    (folder / CARD).write_text(card.render(trained), encoding="utf-8")
    facts = found._asdict() | {"calibration_error": found.calibration_error}
    (folder / EVALUATION).write_bytes(
        orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=lambda part: part._asdict())
    )


def _told(file: str | None) -> str:
    return "a tenth of the documents, left out of training" if file is None else f"the documents of {Path(file).name}"


def scores(path: Path, held_out: Shuffled) -> np.ndarray:
    """The probability of good for each example, as a run would have it: float64[n]."""
    model = models.load(str(path), "the trained model")
    return np.array([models.probabilities(model, example.line)[GOOD] for example in held_out.read()])
