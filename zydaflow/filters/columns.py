"""Whether the columns that rules go by can hold what the rules are on."""

from collections.abc import Iterator, Mapping

from zydaflow.filters.resolve import resolve, single
from zydaflow.recipe import DatasetSpec, Recipe
from zydaflow.signals.metadata import NUMBER, column

_NO_NUMBERS = ("string", "large_string", "string_view", "boolean", "bool", "binary", "large_binary")
_NO_TEXTS = ("list", "large_list", "fixed_size_list", "struct", "map", "object", "array")


def column_problems(recipe: Recipe, dataset: DatasetSpec, types: Mapping[str, str]) -> Iterator[str]:
    """What to tell of rules on columns of other types than they are for. `types` are those of the dataset's plan.

    A column whose type is not known is none of them. Raises what `resolve` does.
    """
    for rule in single(resolve(recipe, dataset)):
        name = column(rule.signal)
        if name is None or name not in types:
            continue
        kinds = types[name].split(" or ")
        number = rule.signal.startswith(NUMBER)
        if number and all(kind in _NO_NUMBERS or _nested(kind) for kind in kinds):
            wanted = "min and max go by numbers; use allow or deny"
        elif not number and all(_nested(kind) for kind in kinds):
            wanted = "allow and deny go by texts"
        else:
            continue
        yield f"dataset {dataset.name}: the rule {rule.name}: column {name!r} is {types[name]}, and {wanted}"


def _nested(kind: str) -> bool:
    return kind.partition("<")[0] in _NO_TEXTS
