"""From YAML to a validated recipe, with every error at its key."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import ValidationError

from zydaflow.errors import RecipeError
from zydaflow.recipe.model import Recipe
from zydaflow.recipe.overrides import apply_override
from zydaflow.recipe.part import plain
from zydaflow.recipe.problems import problems
from zydaflow.recipe.yamltext import Key, line_of, read_yaml
from zydaflow.storage import AnyPath, path_of


@dataclass
class _Origin:
    """Where the values came from: the lines of a file, or the options of the command line."""

    file: str | None = None
    node: yaml.Node | None = None
    options: dict[Key, str] = field(default_factory=dict)

    def place(self, key: Key) -> str:
        """`FILE:LINE: `, or the option that gave the value; empty for a recipe that is no file."""
        line, depth = line_of(self.node, key)
        within = [option for given, option in self.options.items() if key[: len(given)] == given]
        beneath = [option for given, option in self.options.items() if given[: len(key)] == key]
        if within:
            return f"{within[-1]}: "
        if beneath and depth < len(key):
            return f"{beneath[-1]}: "
        return f"{self.file}:{line}: " if self.file else ""


def load_recipe(
    source: AnyPath | Mapping[str, Any],
    overrides: Sequence[str] = (),
    out: AnyPath | None = None,
    sample: float | None = None,
) -> Recipe:
    """Reads and validates a recipe: a YAML file, or a mapping of the same form.

    `overrides` are KEY=VALUE texts (see `apply_override`), `out` replaces the output path, `sample` (above 0, at
    most 1) multiplies the sample of each dataset. Paths may be `Path`s; local ones become absolute, from the current
    directory.
    Raises RecipeError that lists every error with its file, line and key.
    """
    data, origin = _read(source)
    for override in overrides:
        origin.options[apply_override(data, override)] = f"--set {override}"
    if out is not None and isinstance(output := data.get("output") or {}, dict):
        data["output"] = output | {"path": out}
        origin.options["output", "path"] = f"--out {out}"
    try:
        recipe = Recipe.model_validate(plain(data))
    except ValidationError as error:
        raise RecipeError(problems(error, origin.place)) from None
    return recipe if sample is None else _sampled(recipe, sample)


def _read(source: AnyPath | Mapping[str, Any]) -> tuple[dict[str, Any], _Origin]:
    if isinstance(source, Mapping):
        return copy.deepcopy(dict(source)), _Origin()
    file = str(source)
    try:
        text = path_of(source).read_text(encoding="utf-8")
    except OSError as error:
        raise RecipeError(f"{file}: the recipe cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"{file}: the recipe is not UTF-8 text: {error.reason} at byte {error.start}") from error
    data, node = read_yaml(text, file)
    if not isinstance(data, dict):
        raise RecipeError(f"{file}:1: a recipe is a mapping of keys to values, with at least name and datasets")
    return data, _Origin(file, node)


def _sampled(recipe: Recipe, share: float) -> Recipe:
    if not 0 < share <= 1:
        raise RecipeError(f"--sample {share:g}: must be above 0 and at most 1")
    datasets = tuple(dataset.model_copy(update={"sample": dataset.sample * share}) for dataset in recipe.datasets)
    return recipe.model_copy(update={"datasets": datasets})
