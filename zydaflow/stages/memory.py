"""What a worker has in memory besides the text that it works on."""

import os

from zydaflow.errors import RecipeError
from zydaflow.provenance.numbers import megabytes
from zydaflow.recipe import Recipe
from zydaflow.signals.models import model_path
from zydaflow.stages.job import all_signals

WORKER = 250_000_000  # bytes, measured on one worker: what kernels, libraries and batches of 8 MB take


def model_bytes(recipe: Recipe) -> int:
    """Of the fastText models that the recipe's signals need: their files, which are held whole, each once per worker.

    Raises InputError for a model that is not there.
    """
    needed = all_signals(recipe)
    models = {
        spec.model: f"classifiers.{name}.model"
        for name, spec in recipe.classifiers.items()
        if f"classifier.{name}" in needed
    }
    if recipe.language and any(name.startswith("language") for name in needed):
        models[recipe.language.model] = "language.model"
    return sum(os.path.getsize(model_path(model, key)) for model, key in models.items())


def check_models_fit(recipe: Recipe) -> None:
    """Raises RecipeError where the models leave a task too little of its memory."""
    models, limit = model_bytes(recipe), recipe.resources.memory_per_task
    if models and models + WORKER > limit:
        raise RecipeError(
            f"resources.memory_per_task: the models take {megabytes(models)} and a worker {megabytes(WORKER)} besides, "
            f"more than {megabytes(limit)}; give more"
        )
