from typing import Any

import pytest

from zydaflow.errors import RecipeError
from zydaflow.filter_changes import changed
from zydaflow.filters import Rule
from zydaflow.recipe import Recipe, load_recipe


def _recipe(**changes: Any) -> Recipe:
    sets = [{"name": "web", "path": "/nowhere/web"}, {"name": "code", "path": "/nowhere/code", "filters": []}]
    language = {"model": "/nowhere/lid.bin", "keep": ["en", "zh"]}
    by_language = {"signal": "n_words", "min": 50, "by_language": {"zh": {"min": 3}}}
    return load_recipe({"name": "x", "datasets": sets, "language": language, "filters": [by_language]} | changes)


def _rules(recipe: Recipe, *changes: str) -> dict[str, Rule]:
    rules = changed(recipe, changes, None).rules["web"]
    return {rule.name: rule for rule in rules if isinstance(rule, Rule)}


def test_a_bound_for_one_language_changes_for_it_alone() -> None:
    now, then = _rules(_recipe()), _rules(_recipe(), "n_words.min.zh=7")
    assert then.pop("n_words.min.zh") == Rule("n_words.min.zh", "n_words", "min", 7.0, only=("zh",))
    del now["n_words.min.zh"]
    assert then == now


def test_an_added_rule_leaves_out_languages_with_bounds_of_their_own_as_in_a_recipe() -> None:
    then = _rules(_recipe(), "n_words.max=900")
    assert then["n_words.max"] == Rule("n_words.max", "n_words", "max", 900.0, but=("zh",))
    written = [{"signal": "n_words", "min": 50, "by_language": {"zh": {"min": 3}}}, {"signal": "n_words", "max": 900}]
    assert then == _rules(_recipe(filters=written))


@pytest.mark.parametrize("change", ["language.keep=[en]", "language={model: /nowhere/lid.bin, keep: [en]}"])
def test_which_languages_stay_is_a_key_of_the_recipe(change: str) -> None:
    assert _rules(_recipe(), change)["language.keep"].bound == ("en",)
    asked = changed(_recipe(), [change], None)
    assert asked.recipe.language is not None
    assert asked.recipe.language.keep == ("en",)
    assert asked.rules["code"] == ()


def test_rules_on_language_can_be_dropped_and_added() -> None:
    assert "language.keep" not in _rules(_recipe(), "language.keep=null")
    assert _rules(_recipe(), "language_score.max=0.9")["language_score.max"].bound == 0.9
    assert _rules(_recipe(), "language.min_score=0.2")["language.min_score"].bound == 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("language.model=/nowhere/other.bin", "this changes more than which documents stay"),
        ("language=null", "this changes more than which documents stay"),
        ("url_lists.domains=[/nowhere/list]", "there is no such rule"),
        ("language.min=3", r"language\.min"),
        ("n_words.max.zh=3", r"there is no such rule; did you mean n_words\.min\.zh"),
    ],
)
def test_what_is_measured_cannot_be_changed(change: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        changed(_recipe(), [change], None)
