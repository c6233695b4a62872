"""Whether the columns that rules go by can hold what the rules are on."""

import re
from collections.abc import Iterator, Mapping

from zydaflow.filters.resolve import resolve, single
from zydaflow.recipe import DatasetSpec, Recipe
from zydaflow.signals.metadata import NUMBER, column

_NESTED = ("list", "large_list", "fixed_size_list", "struct", "map", "object", "array")
_MOMENTS = ("timestamp", "date32", "date64", "time32", "time64")
_NO_NUMBERS = ("string", "large_string", "string_view", "boolean", "bool", "binary", *_MOMENTS, *_NESTED)


def column_problems(recipe: Recipe, dataset: DatasetSpec, types: Mapping[str, str]) -> Iterator[str]:
    """What to tell of rules on columns of other types than they are for. `types` are those of the dataset's plan.

    A column whose type is not known is none of them. Raises what `resolve` does.
    """
    for rule in single(resolve(recipe, dataset)):
        name = column(rule.signal)
        if name is None or name not in types:
            continue
        kinds = [re.split(r"[<\[]", kind)[0] for kind in types[name].split(" or ")]  # list<…>, timestamp[us]
        numbers = rule.signal.startswith(NUMBER)
        if all(kind in (_NO_NUMBERS if numbers else _NESTED) for kind in kinds):
            wanted = "min and max go by numbers; use allow or deny" if numbers else "allow and deny go by texts"
            yield f"dataset {dataset.name}: the rule {rule.name}: column {name!r} is {types[name]}, and {wanted}"
