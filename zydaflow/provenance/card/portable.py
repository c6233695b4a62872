"""The recipe without what belongs to one machine."""

from typing import Any

from zydaflow.provenance.made_of import last_part
from zydaflow.recipe import Recipe
from zydaflow.recipe.yamltext import write_yaml

PATHS = ("path", "model")


def portable_yaml(recipe: Recipe) -> str:
    """The recipe as YAML with its defaults, but without the output folder and the resources, which change no result.

    Of local paths only the last part stays.
    """
    plain = recipe.model_dump(mode="json", exclude_none=True, exclude={"output": {"path"}, "resources": True})
    if recipe.dedup is None:
        plain["dedup"] = None  # which is not its default
    if isinstance(recipe.tokenizer, str):
        plain["tokenizer"] = last_part(recipe.tokenizer)
    plain["word_lists"] = {name: last_part(path) for name, path in recipe.word_lists.items()}
    return write_yaml(_shortened(plain))


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: last_part(item) if key in PATHS and isinstance(item, str) else _shortened(item)
        for key, item in value.items()
    }
