import pytest

from zydaflow.filters import column_problems
from zydaflow.recipe import load_recipe

NUMBERS = ["int64", "double", "decimal128(9, 2)", "number", "number or string", "boolean or number", "null"]
TEXTS = ["string", "large_string", "bool", "boolean", "timestamp[us, tz=UTC]", "date32[day]"]
NEITHER = ["list<element: int64>", "struct<a: int64, b: string>", "map<string, string>", "object", "array or object"]


def told(kind, **test):
    dataset = {
        "name": "d",
        "path": "/d",
        "metadata": ["x"],
        "filters": [{"name": "c", "all": [{"column": "x", **test}]}],
    }
    recipe = load_recipe({"name": "r", "datasets": [dataset]})
    return list(column_problems(recipe, recipe.datasets[0], {"x": kind} if kind else {}))


@pytest.mark.parametrize("kind", [*NUMBERS, *TEXTS, *NEITHER, None])
def test_what_a_column_can_be_judged_by(kind):
    assert bool(told(kind, min=1)) == (kind in TEXTS + NEITHER)
    assert bool(told(kind, allow=["a"])) == (kind in NEITHER)


def test_the_message():
    assert told("bool", max=1) == [
        "dataset d: the rule c.metadata.x.max: column 'x' is bool, and min and max go by numbers; use allow or deny"
    ]
