"""The documents that a classifier is trained on, each as the line that a model reads of it in a run."""

import os.path
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from zydaflow import sources, transforms
from zydaflow.draft.survey import slug
from zydaflow.errors import InputError, RecipeError
from zydaflow.recipe import DatasetSpec, Recipe, load_recipe
from zydaflow.signals.classifier import line
from zydaflow.suggest import nearest

GOOD, BAD = "good", "bad"
LABELS = (BAD, GOOD)
LABEL_COLUMN = "label"


class Example(NamedTuple):
    """A line, and whether it is of a good document."""

    line: str
    good: bool


def recipe_of(paths: Sequence[str]) -> Recipe:
    """A recipe with a dataset for each path, in order, whose texts are in the column `text`."""
    datasets: dict[str, str] = {}
    for path in paths:
        name = slug(os.path.basename(path.rstrip("/")))
        datasets[name if name not in datasets else f"{name}-{len(datasets) + 1}"] = path
    specs = [{"name": name, "path": path} for name, path in datasets.items()]
    return load_recipe({"name": "classifier", "datasets": specs, "dedup": None})


def dataset_of(recipe: Recipe, name: str) -> DatasetSpec:
    """The recipe's dataset of that name. Raises RecipeError where there is none."""
    datasets = {dataset.name: dataset for dataset in recipe.datasets}
    if name not in datasets:
        raise RecipeError(f"the recipe has no dataset {name!r}{nearest(name, datasets)}")
    return datasets[name]


def examples(recipe: Recipe, dataset: DatasetSpec, good: bool) -> Iterator[Example]:
    """The texts of a dataset after its transforms, in canonical order; those of white space alone are left out.

    Raises InputError where it cannot be read.
    """
    for text, _ in _texts(recipe, dataset):
        yield Example(text, good)


def labelled(path: str) -> Iterator[Example]:
    """The documents of a file of any form with the columns `text` and `label` (good or bad).

    Raises InputError where it cannot be read, or for another label.
    """
    recipe = recipe_of([path])
    dataset = recipe.datasets[0].model_copy(update={"metadata": (LABEL_COLUMN,)})
    for text, metadata in _texts(recipe, dataset):
        label = orjson.loads(metadata or "{}").get(LABEL_COLUMN)
        if label not in LABELS:
            raise InputError(f"--eval: {path}: the label {label!r} is neither {GOOD} nor {BAD}")
        yield Example(text, label == GOOD)


def _texts(recipe: Recipe, dataset: DatasetSpec) -> Iterator[tuple[str, str | None]]:
    """(line, metadata) of each document with a text."""
    part_bytes, transform = recipe.resources.shard_bytes, recipe.transform_of(dataset)
    for shard in sources.plan_dataset(dataset, part_bytes).shards:
        for batch in sources.read_shard(shard, dataset, part_bytes=part_bytes, seed=recipe.seed):
            texts = transforms.apply(transform, batch.records["text"]).to_pylist()
            for text, metadata in zip(texts, batch.records["metadata"].to_pylist(), strict=True):
                if text and (read := line(text, "space")).strip():
                    yield read, metadata
