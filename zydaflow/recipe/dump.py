"""A recipe as YAML again."""

from collections.abc import Iterator

from zydaflow.recipe.filters import title
from zydaflow.recipe.model import Recipe
from zydaflow.recipe.yamltext import comment_text, write_yaml


def dump_recipe(recipe: Recipe) -> str:
    """The recipe as YAML with every default spelled out; `load_recipe` makes an equal recipe of it.

    What a dataset inherits or a filter implies is said in comments on top.
    """
    body = write_yaml(recipe.model_dump(mode="json"))
    return "".join(f"# {comment_text(line, 200)}\n" for line in _implied(recipe)) + body


def _implied(recipe: Recipe) -> Iterator[str]:
    for dataset in recipe.datasets:
        filters = [title(item) for item in recipe.filters_of(dataset)]
        transform = recipe.transform_of(dataset)
        yield f"{dataset.name}: filters {', '.join(filters) or 'none'}; transform {', '.join(transform) or 'none'}"
