import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import filters
from zydaflow.errors import RecipeError
from zydaflow.filters import Rule, judge, preset, preset_names
from zydaflow.recipe import Recipe
from zydaflow.signals import SIGNALS


def recipe_with(*datasets, **keys):
    specs = [{"name": f"d{n}", "path": "/d.jsonl", **spec} for n, spec in enumerate(datasets or [{}])]
    content = {"name": "r", "datasets": specs, "output": {"path": "/out"}, **keys}
    return Recipe.model_validate(content, strict=False)


def rules_of(recipe, dataset=0):
    return {rule.name: rule for rule in filters.resolve(recipe, recipe.datasets[dataset])}


def test_a_bound_is_kept_by_the_value_itself():
    table = pa.table({"n": [9, 10, 11, 20, 21, None]})
    rules = [Rule("n.min", "n", "min", 10.0), Rule("n.max", "n", "max", 20.0)]
    assert judge(table, rules).tolist() == [
        [True, False], [False, False], [False, False], [False, False], [False, True], [False, False],
    ]  # fmt: skip


def test_labels():
    table = pa.table({"l": pa.array(["en", "fr", None])})
    allow, deny = Rule("l.keep", "l", "allow", ("en",)), Rule("l.deny", "l", "deny", ("en",))
    known = Rule("l.allow", "l", "allow", ("en",), known=True)
    assert judge(table, [allow, deny, known]).T.tolist() == [
        [False, True, False],
        [True, False, False],
        [False, True, True],
    ]


def test_no_rules_and_no_documents():
    assert judge(pa.table({"n": [1, 2]}), []).shape == (2, 0)
    assert judge(pa.table({"n": pa.array([], pa.int64())}), [Rule("n.min", "n", "min", 1.0)]).shape == (0, 1)


@given(
    st.lists(st.one_of(st.none(), st.floats(-10, 10)), max_size=20),
    st.sampled_from(["min", "max"]),
    st.floats(-10, 10),
    st.floats(0, 10),
)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_a_looser_threshold_keeps_a_superset(values, test, bound, step):
    table = pa.table({"n": pa.array(values, pa.float64())})
    looser = bound - step if test == "min" else bound + step
    strict, loose = judge(table, [Rule("n", "n", test, bound), Rule("n", "n", test, looser)]).T
    assert not (loose & ~strict).any()


def test_the_zyda_rules_are_the_published_ones():
    assert {rule.name.removeprefix("zyda."): rule.bound for rule in preset("zyda").rules} == {
        "transformed_length.min": 100,
        "mean_word_length.min": 3,
        "mean_word_length.max": 12,
        "fraction_non_alphanumeric.max": 0.3,
        "fraction_numerical.max": 0.2,
        "substrings_counts.max": 50,
        "pattern_counts.xml.max": 10,
        "pattern_counts.xml_declaration.max": 1,
        "pattern_counts.lorem_ipsum.max": 2,
        "pattern_fraction.https.max": 0.002,
        "pattern_fraction.less_than.max": 0.03,
        "pattern_fraction.quote_colon.max": 0.002,
        "pattern_fraction.www.max": 0.01,
        "word_list_counts.zh_pornsignals.max": 1,
        "word_list_counts.sexual.max": 10,
        "word_list_fraction.sexual.max": 0.001,
        "word_list_fraction.profanity.max": 0.0025,
        "word_list_fraction.cursed_substrings.max": 0.01,
    }


@pytest.mark.parametrize("name", preset_names())
def test_rule_sets_name_signals_that_exist(name):
    rules, reports = preset(name).rules, preset(name).reports
    ruled = {name for rule in rules for name in rule.columns}
    assert all(name in SIGNALS for name in ruled | set(reports))
    assert not ruled & set(reports)
    assert preset(name).source


def test_a_written_rule_takes_the_place_of_the_sets():
    for order in (1, -1):
        specs = ["zyda", {"signal": "zyda.transformed_length", "min": 7}, {"signal": "n_words", "min": 50, "max": 99}]
        rules = rules_of(recipe_with(filters=specs[::order]))
        assert len(rules) == len(preset("zyda").rules) + 2
        assert rules["zyda.transformed_length.min"].bound == 7
        assert (rules["n_words.min"].bound, rules["n_words.max"].bound) == (50, 99)


def test_a_dataset_has_its_own_filters():
    own = {"filters": [{"signal": "n_words", "min": 5}]}
    recipe = recipe_with({}, {"filters": []}, own, filters=["zyda"])
    assert len(rules_of(recipe, 0)) == len(preset("zyda").rules)
    assert list(rules_of(recipe, 1)) == []
    assert list(rules_of(recipe, 2)) == ["n_words.min"]
    assert filters.signals_needed(recipe, recipe.datasets[1]) == ()
    assert filters.signals_needed(recipe, recipe.datasets[2]) == ("n_words",)
    assert set(filters.signals_needed(recipe, recipe.datasets[0])) >= {"zyda.pii_count", "n_words"}


def test_language_and_licences_are_rules_too():
    keys = {"language": {"model": "/m", "keep": ["en"], "min_score": 0.5}, "licenses": {"allow": ["MIT"]}}
    recipe = recipe_with(**keys)
    assert list(rules_of(recipe)) == ["license.allow", "language.keep", "language.min_score"]
    assert filters.signals_needed(recipe, recipe.datasets[0]) == ("language", "language_score")
    table = pa.table({"language": ["fr", "en", "en", None], "language_score": [0.99, 0.4999, 0.5, None]})
    table = table.append_column("license", pa.array(["MIT", "GPL", None, "MIT"]))
    assert judge(table, list(rules_of(recipe).values())).tolist() == [
        [False, True, False], [True, False, True], [True, False, False], [False, False, False],
    ]  # fmt: skip
    denied = rules_of(recipe_with(licenses={"deny": ["MIT"]}))
    assert judge(table, list(denied.values())).T.tolist() == [[True, False, False, True]]


def test_licences_match_whatever_their_case_and_outer_spaces():
    column = pa.array(["mit", " MIT\n", "Mit", "MIT-0", "", None, "APACHE-2.0"])
    table = pa.table({"license": column})
    policy = [" Mit", "apache-2.0 "]
    allowed, denied = (rules_of(recipe_with(licenses={key: policy})).values() for key in ("allow", "deny"))
    assert judge(table, list(allowed))[:, 0].tolist() == [False, False, False, True, True, True, False]
    assert judge(table, list(denied))[:, 0].tolist() == [True, True, True, False, False, False, True]
    assert table["license"].combine_chunks() == column


def test_labels_of_languages_match_as_they_are():
    keep = rules_of(recipe_with(language={"model": "/m", "keep": ["en"]}))["language.keep"]
    assert keep.breaks(pa.array(["en", "EN", " en"])).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (["zdya"], "no rule set 'zdya'; did you mean zyda?"),
        ([{"signal": "n_wrods", "min": 1}], "no signal 'n_wrods'; did you mean n_words?"),
        ([{"signal": "language", "min": 1}], "language is a label"),
        ([{"signal": "n_words", "min": 1}, {"signal": "n_words", "min": 2}], "two rules n_words.min"),
    ],
)
def test_mistakes_are_named(specs, message):
    with pytest.raises(RecipeError) as error:
        rules_of(recipe_with(filters=specs))
    assert message in str(error.value)


def test_rules_are_json():
    rules = rules_of(recipe_with(filters=["zyda"], licenses={"allow": ["MIT"]}))
    assert json.loads(json.dumps([rule.to_json() for rule in rules.values()]))[0] == {
        "name": "license.allow", "signal": "license", "test": "allow", "bound": ["MIT"], "known": True,
        "folded": True,
    }  # fmt: skip
