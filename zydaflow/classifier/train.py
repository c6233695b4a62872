"""From datasets of good and of bad documents to a model, its evaluation and its card."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import orjson

from zydaflow.classifier import card
from zydaflow.classifier.documents import BAD, GOOD, LABELS, dataset_of, labelled, lines, recipe_of
from zydaflow.classifier.evaluate import Evaluation, evaluate
from zydaflow.classifier.examples import Examples, Shuffled
from zydaflow.classifier.fit import check_installed, fit
from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.made_of import licence
from zydaflow.recipe import Recipe
from zydaflow.signals import models
from zydaflow.storage import AnyPath, being_made, path_of

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
    folder = path_of(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecipeError(f"--out: {folder} is no empty folder; give another")
    if recipe is None:
        recipe = recipe_of([*good, *bad])
        names = [dataset.name for dataset in recipe.datasets]
        good, bad = names[: len(good)], names[len(good) :]
    if both := set(good) & set(bad):
        raise RecipeError(f"--good and --bad both have {', '.join(sorted(both))}")
    named = dict.fromkeys(good, GOOD) | dict.fromkeys(bad, BAD)
    with TemporaryDirectory(prefix="zydaflow-") as scratch, being_made(folder) as new:
        Path(str(new)).mkdir(parents=True)
        return _train(recipe, named, Path(scratch), Path(str(new)), evaluation, keep)


def _train(
    recipe: Recipe, named: dict[str, str], scratch: Path, new: Path, file: str | None, keep: float | None
) -> Trained:
    """`named` has the datasets with their labels."""
    examples = Examples(scratch / "examples")
    sources = tuple(_add(examples, recipe, name, label) for name, label in named.items())
    training, held_out = _split(examples, scratch / "held-out", file, recipe.seed)
    for part, of in ((training, "to train on"), (held_out, "to evaluate on")):
        for label in LABELS:
            if not (part.good == (label == GOOD)).any():
                raise InputError(f"there are no {label} documents {of}")
    with open(scratch / "lines", "w", encoding="utf-8") as lines_file:
        training.write(lines_file)
    fit(scratch / "lines", len(training.good), new / MODEL, recipe.seed)
    evaluation = evaluate(scores(new / MODEL, held_out), held_out.good, keep)
    counts = int(training.good.sum()), int((~training.good).sum())
    trained = Trained(sources, recipe.seed, counts, _told(file), evaluation)
    (new / CARD).write_text(card.render(trained), encoding="utf-8")
    facts = evaluation._asdict() | {"calibration_error": evaluation.calibration_error}
    (new / EVALUATION).write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=lambda cut: cut._asdict()))
    return trained


def _add(examples: Examples, recipe: Recipe, name: str, label: str) -> Source:
    dataset = dataset_of(recipe, name)
    documents, size = examples.add(lines(recipe, dataset), label, recipe.seed)
    return Source(name, label, documents, size, licence(dataset))


def _split(examples: Examples, path: Path, file: str | None, seed: int) -> tuple[Shuffled, Shuffled]:
    """What to train on and what to evaluate on: no line is in both."""
    every = examples.shuffled()
    if file is None:
        return every.split()
    others = Examples(path)
    known = list(labelled(file))
    for label in LABELS:
        others.add((line for line, its in known if its == label), label, seed)
    held_out = others.shuffled()
    return every.where(~np.isin(every.hashes, held_out.hashes)), held_out


def _told(file: str | None) -> str:
    return "a tenth of the documents, left out of training" if file is None else f"the documents of {Path(file).name}"


def scores(path: Path, examples: Shuffled) -> np.ndarray:
    """The probability of good for each example, as a run would have it: float64[n]."""
    model = models.load(str(path), "the trained model")
    return np.array([models.probabilities(model, example.line)[GOOD] for example in examples.read()])
