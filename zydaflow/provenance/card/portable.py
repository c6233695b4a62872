"""The recipe without what belongs to one machine."""

from typing import Any

from zydaflow.provenance.made_of import last_part
from zydaflow.recipe import Recipe, ScorerSpec
from zydaflow.recipe.scorer import MEANS
from zydaflow.recipe.yamltext import write_yaml

PATHS = ("path", "model")


def portable_yaml(recipe: Recipe) -> str:
    """The recipe as YAML with its defaults, but without the output folder and what changes no result: all resources.

    Of local paths only the last part stays.
    """
    plain = recipe.model_dump(mode="json", exclude_none=True, exclude={"output": {"path"}, "resources": True})
    if recipe.dedup is None:
        plain["dedup"] = None  # which is not its default
    if isinstance(recipe.tokenizer, str):
        plain["tokenizer"] = last_part(recipe.tokenizer)
    plain["scorers"] = {name: _scorer(spec) for name, spec in recipe.scorers.items()}
    plain["word_lists"] = {name: last_part(path) for name, path in recipe.word_lists.items()}
    return write_yaml(_shortened(plain))


def _scorer(spec: ScorerSpec) -> dict[str, Any]:
    files = {key: last_part(path) for key, path in spec.files.items()}
    return spec.model_dump(mode="json", exclude=set(MEANS)) | {"function": last_part(spec.function), "files": files}


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: last_part(item) if key in PATHS and isinstance(item, str) else _shortened(item)
        for key, item in value.items()
    }
