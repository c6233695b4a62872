from pathlib import Path

import pytest

from zydaflow.errors import RecipeError
from zydaflow.recipe import (
    ColumnRule,
    CompositeSpec,
    RuleSetSpec,
    RuleSpec,
    UrlLists,
    dump_recipe,
    load_recipe,
)
from zydaflow.recipe.filters import Bounds

SMALL = {"name": "small", "datasets": [{"name": "a", "path": "a.jsonl", "url": "link", "metadata": ["score"]}]}
RECIPE = """\
name: small
datasets: [{name: a, path: a.jsonl}]
filters:
  - gopher
  - {set: zyda, without: [n_words], words: script}
  - rules/mine.yaml
  - {signal: n_words, min: 5, by_language: {zh: {max: 3}, no: {}}, nulls: remove}
  - {column: score, max: 2}
  - {column: lang, deny: [no]}
  - name: poor
    all: [{signal: n_words, min: 9}, {name: x, any: [{column: score, min: 1}]}]
url_lists: {domains: [lists/a, /b], soft_words: [c]}
"""
MINE = """\
source: ours
rules:
  - {signal: n_words, min: 1e1}
reports: [zyda.pii_count]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current directory, with a rule set's file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/mine.yaml").write_text(MINE)
    return str(Path.cwd())


def test_every_form(here):
    Path("recipe.yaml").write_text(RECIPE)
    recipe = load_recipe("recipe.yaml")
    assert recipe.filters == (
        "gopher",
        RuleSetSpec(set="zyda", without=("n_words",), words="script"),
        RuleSetSpec(
            set=f"{here}/rules/mine.yaml",
            source="ours",
            rules=(RuleSpec(signal="n_words", min=10.0),),
            reports=("zyda.pii_count",),
        ),
        RuleSpec(signal="n_words", min=5.0, by_language={"zh": Bounds(max=3.0), "no": Bounds()}, nulls="remove"),
        ColumnRule(column="score", max=2.0),
        ColumnRule(column="lang", deny=("no",)),
        CompositeSpec(
            name="poor",
            all=(
                RuleSpec(signal="n_words", min=9.0),
                CompositeSpec(name="x", any=(ColumnRule(column="score", min=1.0),)),
            ),
        ),
    )
    assert recipe.url_lists == UrlLists(domains=(f"{here}/lists/a", "/b"), soft_words=(f"{here}/c",))


def test_a_dumped_recipe_needs_no_file_of_rules(here):
    Path("recipe.yaml").write_text(RECIPE)
    recipe = load_recipe("recipe.yaml")
    Path("rules/mine.yaml").unlink()
    Path("dumped.yaml").write_text(dump_recipe(recipe))
    assert load_recipe("dumped.yaml") == recipe
    implied = f"# a: filters gopher, zyda, {here}/rules/mine.yaml, n_words, score, lang, poor; transform zyda"
    assert dump_recipe(recipe).startswith(implied)


def test_a_file_may_be_named_with_what_it_goes_without(here):
    (item,) = load_recipe(SMALL | {"filters": [{"set": "rules/mine.yaml", "without": ["n_words"]}]}).filters
    assert (item.set, item.without, len(item.rules)) == (f"{here}/rules/mine.yaml", ("n_words",), 1)


def test_an_override_reaches_into_a_rule(here):
    filters = [{"signal": "n_words", "min": 5, "by_language": {"zh": {"max": 3}}}]
    recipe = load_recipe(SMALL | {"filters": filters}, ["filters[0].by_language.zh.max=4", "filters.0.min=6"])
    assert (recipe.filters[0].by_language["zh"].max, recipe.filters[0].min) == (4, 6)


def test_the_url_is_carried_with_the_metadata(here):
    recipe = load_recipe(SMALL)
    assert recipe.datasets[0].carried == ("score", "link")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"column": "x"}, "filters[0].min: the rule on x needs min, max or both, or allow, or deny"),
        (
            {"column": "x", "min": 1, "allow": ["a"]},
            "filters[0].min: the rule on x needs min, max or both, or allow, or deny",
        ),
        (
            {"column": "x", "allow": ["a"], "deny": ["b"]},
            "filters[0].min: the rule on x needs min, max or both, or allow, or deny",
        ),
        ({"column": "x", "min": 2, "max": 1}, "filters[0].min: min 2 is above max 1: every document would be removed"),
        ({"column": "x", "allow": [1]}, "filters[0].allow[0]: must be text, not 1; put it in quotes"),
        (
            {"signal": "x", "by_language": {"zh": {"min": 2, "max": 1}}},
            "filters[0].by_language.zh.min: min 2 is above max 1: every document would be removed",
        ),
        (
            {"signal": "x", "by_language": {"zh": {}}},
            "filters[0].min: the rule on x has no bound; give min, max or both",
        ),
        ({"name": "x", "any": []}, "filters[0].any: must not be empty"),
        ({"name": "x", "any": [{"signal": "x"}], "all": []}, None),
        ({"all": [{"signal": "x", "min": 1}]}, "filters[0].name: is missing (what reasons and statistics call it)"),
        ({"name": "x", "all": ["zyda"]}, "filters[0].all[0]: must be a rule, like {signal: n_words, min: 50}"),
        ({"set": "zyda", "words": "chars"}, None),
        (
            "rules/none.yaml",
            "filters[0]: {here}/rules/none.yaml: the rule set cannot be read: No such file or directory",
        ),
        ("rules/list.yaml", "filters[0]: {here}/rules/list.yaml: a rule set is a mapping with the key rules"),
        ("rules/typo.yaml", "filters[0].rule: unknown key; did you mean rules?"),
        ("rules/half.yaml", None),
    ],
)
def test_what_cannot_be(here, item, message):
    Path("rules/list.yaml").write_text("[1]")
    Path("rules/typo.yaml").write_text("rule: []\nrules: []")
    Path("rules/half.yaml").write_text("rules: [")
    with pytest.raises(RecipeError) as raised:
        load_recipe(SMALL | {"filters": [item]})
    if message:
        assert str(raised.value).splitlines() == [message.replace("{here}", here)]
