"""Rules by language, over columns and URLs, and rules made of rules."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import filters
from zydaflow.errors import RecipeError
from zydaflow.filters import Composite, Rule, RuleStatistics, judge, reasons, rule_alarms
from zydaflow.recipe import load_recipe
from zydaflow.recipe.fingerprint import fingerprint

LANGUAGE = {"model": "/m"}


def recipe_with(*items, **keys):
    dataset = {"name": "d", "path": "/d.jsonl"} | keys.pop("dataset", {})
    return load_recipe({"name": "r", "datasets": [dataset], "filters": list(items), **keys})


def rules_of(*items, **keys):
    recipe = recipe_with(*items, **keys)
    return {rule.name: rule for rule in filters.resolve(recipe, recipe.datasets[0])}


def removed(rules, **columns):
    table = pa.table(columns)
    return judge(table, list(rules.values())).any(axis=1).tolist()


BY_LANGUAGE = {
    "signal": "zyda.mean_word_length",
    "min": 3,
    "max": 12,
    "by_language": {"zh": {"max": 100}, "th": {}, "de": {"min": 4, "max": 20}},
}


def test_bounds_of_a_language_take_the_place_of_the_rules():
    rules = rules_of(BY_LANGUAGE, language=LANGUAGE)
    assert {name: (rule.bound, rule.only) for name, rule in rules.items()} == {
        "zyda.mean_word_length.min": (3, ()),
        "zyda.mean_word_length.max": (12, ()),
        "zyda.mean_word_length.min.de": (4, ("de",)),
        "zyda.mean_word_length.max.de": (20, ("de",)),
        "zyda.mean_word_length.max.zh": (100, ("zh",)),
    }
    cases = [
        ("en", 2.9, True), ("en", 3.0, False), ("en", 12.1, True), (None, 2.9, True), (None, 12.0, False),
        ("de", 3.0, True), ("de", 20.0, False), ("de", 20.1, True), ("zh", 0.0, False), ("zh", 100.1, True),
        ("th", 0.0, False), ("th", 999.0, False), ("en", None, False), ("de", None, False),
    ]  # fmt: skip
    labels, values, expected = zip(*cases, strict=True)
    found = removed(rules, language=pa.array(labels), **{"zyda.mean_word_length": pa.array(values)})
    assert found == list(expected)
    signals = filters.signals_needed(recipe_with(BY_LANGUAGE, language=LANGUAGE), recipe_with().datasets[0])
    assert set(signals) == {"zyda.mean_word_length", "language", "language_score"}
    assert filters.languages_named(rules.values()) == ["de", "th", "zh"]


def test_a_rule_sets_bounds_give_way_to_those_of_a_language():
    own = {"signal": "zyda.mean_word_length", "by_language": {"zh": {"max": 99}}}
    rules = rules_of("zyda", own, language=LANGUAGE)
    assert rules["zyda.mean_word_length.max"].bound == 12
    for name in ("zyda.mean_word_length.min", "zyda.mean_word_length.max"):
        assert rules[name].but == ("zh",)
    assert rules["zyda.mean_word_length.max.zh"].bound == 99
    assert rules["zyda.fraction_numerical.max"].but == ()


def test_a_language_is_only_told_where_none_is_to_be_kept():
    assert rules_of(language=LANGUAGE) == {}
    recipe = recipe_with("zyda", language=LANGUAGE, dataset={"filters": []})
    assert filters.signals_needed(recipe, recipe.datasets[0]) == ()


def test_columns():
    carried = {"metadata": ["score", "lang"]}
    rules = rules_of(
        {"column": "score", "min": 3, "max": 5}, {"column": "lang", "allow": ["en", "de"]}, dataset=carried
    )
    assert list(rules) == ["metadata.score.min", "metadata.score.max", "metadata.lang.allow"]
    columns = {
        "metadata.number.score": [2.9, 3.0, 5.0, 5.1, None],
        "metadata.text.lang": ["en", "fr", "de", None, "En"],
    }
    table = pa.table(columns)
    assert judge(table, list(rules.values())).tolist() == [
        [True, False, False], [False, False, True], [False, False, False], [False, True, False], [False, False, True],
    ]  # fmt: skip
    denied = rules_of({"column": "lang", "deny": ["fr"]}, dataset=carried)
    assert removed(denied, **columns) == [False, True, False, False, False]


def test_documents_without_a_value_stay_unless_they_are_to_go():
    carried = {"metadata": ["score"]}
    for test, value in ({"min": 3}, 3.0), ({"max": 3}, 3.0), ({"allow": ["a"]}, "a"), ({"deny": ["a"]}, "b"):
        (kept,) = rules_of({"column": "score", **test}, dataset=carried).values()
        (gone,) = rules_of({"column": "score", **test, "nulls": "remove"}, dataset=carried).values()
        table = pa.table({kept.signal: pa.array([None, value])})
        assert kept.removes(table).tolist() == [False, False]
        assert gone.removes(table).tolist() == [True, False]
        assert kept.applies(table).tolist() == [False, True]
        assert gone.applies(table).tolist() == [True, True]
    (score,) = rules_of({"signal": "language_score", "min": 0.5, "nulls": "remove"}, language=LANGUAGE).values()
    assert score.removes(pa.table({"language_score": [None, 0.6]})).tolist() == [True, False]


POOR = {
    "name": "poor",
    "all": [
        {"signal": "n_words", "min": 50},
        {"signal": "zyda.mean_word_length", "min": 3, "max": 12},
        {"name": "known", "any": [{"column": "score", "min": 3}, {"column": "lang", "deny": ["xx"]}]},
    ],
}
CARRIED = {"metadata": ["score", "lang"]}


def poor_table(words, lengths, scores, langs):
    names = ("n_words", "zyda.mean_word_length", "metadata.number.score", "metadata.text.lang")
    types = (pa.int64(), pa.float64(), pa.float64(), pa.string())
    columns = zip((words, lengths, scores, langs), types, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(values, kind) for values, kind in columns], names=names)


def test_a_composite_removes_what_breaks_all_or_any_of_its_rules():
    rules = tuple(rules_of(POOR, dataset=CARRIED).values())
    assert [rule.name for rule in rules] == ["poor"]
    table = poor_table(
        words=[9, 9, 9, 9, 99, 9, 9],
        lengths=[2, 13, 5, 2, 2, 2, 2],
        scores=[1, 1, 1, 3, 1, None, 3],
        langs=["en", "en", "en", "en", "en", "xx", None],
    )
    broken = judge(table, rules)
    assert broken[:, 0].tolist() == [True, True, False, False, False, True, False]
    assert rules[0].applies(table).tolist() == [True] * 7
    names, told = reasons(table, rules, broken)
    assert [[name for name, is_told in zip(names, row, strict=True) if is_told] for row in told[[0, 1, 2, 5]]] == [
        ["poor", "poor.n_words.min", "poor.zyda.mean_word_length", "poor.zyda.mean_word_length.min",
         "poor.known", "poor.known.metadata.score.min"],
        ["poor", "poor.n_words.min", "poor.zyda.mean_word_length", "poor.zyda.mean_word_length.max",
         "poor.known", "poor.known.metadata.score.min"],
        [],
        ["poor", "poor.n_words.min", "poor.zyda.mean_word_length", "poor.zyda.mean_word_length.min",
         "poor.known", "poor.known.metadata.lang.deny"],
    ]  # fmt: skip


def test_statistics_of_a_composite():
    rules = tuple(rules_of(POOR, dataset=CARRIED).values())
    table = poor_table([9, 99, 9], [2, 2, 2], [1, 1, None], ["en", "en", None])
    extra = {
        "position": pa.array([0, 1, 2]),
        "id": pa.array(["a", "b", "c"]),
        "bytes": pa.array([10, 20, 30]),
        "excerpt": pa.array(["", "", ""], pa.large_string()),
    }
    for name, column in extra.items():
        table = table.append_column(name, column)
    statistics = RuleStatistics(rules, ["n_words", "metadata.number.score", "metadata.text.lang"])
    statistics.add(table, judge(table, rules), np.ones(3, bool), "f")
    found = json.loads(json.dumps(statistics.to_json(), allow_nan=False))
    assert found["rules"]["poor"]["seen"] == {"documents": 2, "bytes": 30}
    assert found["rules"]["poor"]["broken_alone"] == {"documents": 1, "bytes": 10}
    (sample,) = found["rules"]["poor"]["samples"]
    assert sample["value"] == ("n_words 9, zyda.mean_word_length 2.0, metadata.number.score 1.0, metadata.text.lang en")
    assert set(found["signals"]) == {"n_words", "metadata.number.score"}  # texts are not counted
    assert sum(found["signals"]["metadata.number.score"]["all"]) == 2


def test_an_alarm_for_what_no_document_has():
    rules = (Rule("metadata.x.min", "n", "min", 1.0), Rule("n.max.zh", "n", "max", 1.0, only=("zh",)))
    table = pa.RecordBatch.from_pydict(
        {
            "position": [0],
            "id": ["a"],
            "bytes": [1],
            "excerpt": pa.array(["x"], pa.large_string()),
            "n": pa.array([None], pa.float64()),
            "language": ["en"],
        }
    )
    statistics = RuleStatistics(rules, ["language"])
    statistics.add(table, judge(table, rules), np.array([True]), "f")
    alarms = rule_alarms(statistics.to_json())
    assert [(alarm["rule"], alarm["kind"]) for alarm in alarms] == [("metadata.x.min", "applies_to_none")]
    assert alarms[0]["message"] == "metadata.x.min applies to none of 1 documents: none has what it goes by"


URLS = {"url_lists": {"domains": ["/domains"], "soft_words": ["/soft"]}}


def test_url_rules_count_where_there_is_a_url_and_such_a_list():
    with_url = {"dataset": {"url": "link"}}
    assert rules_of("url") == {}
    assert rules_of("url", **with_url) == {}
    assert {name: rule.bound for name, rule in rules_of("url", **URLS, **with_url).items()} == {
        "url.list_counts.domains.max": 0,
        "url.list_counts.soft_words.max": 1,
    }
    recipe = recipe_with("url", **URLS, **with_url)
    needed = filters.signals_needed(recipe, recipe.datasets[0])
    assert needed == ("url.list_counts.domains", "url.list_counts.soft_words", "url.domain")
    assert filters.signals_needed(recipe_with(**with_url), recipe.datasets[0]) == ("url.domain",)
    softer = rules_of("url", {"signal": "url.list_counts.soft_words", "max": 3}, **URLS, **with_url)
    assert softer["url.list_counts.soft_words.max"].bound == 3


def test_of_two_sets_the_stricter_bound_counts():
    one = {"set": "one", "rules": [{"signal": "n_words", "min": 50, "max": 100}]}
    two = {"set": "two", "rules": [{"signal": "n_words", "min": 40, "max": 90, "nulls": "remove"}]}
    for items in ((one, two), (two, one)):
        rules = rules_of(*items)
        assert {name: (rule.bound, rule.known) for name, rule in rules.items()} == {
            "n_words.min": (50, True),
            "n_words.max": (90, True),
        }
    assert rules_of(one, two, {"signal": "n_words", "min": 1})["n_words.min"].bound == 1


def test_a_set_without_some_of_its_rules():
    every = rules_of("zyda")
    chosen = {"set": "zyda", "without": ["zyda.mean_word_length", "zyda.fraction_numerical.max", "n_words"]}
    gone = {"zyda.mean_word_length.min", "zyda.mean_word_length.max", "zyda.fraction_numerical.max"}
    assert list(rules_of(chosen)) == [name for name in every if name not in gone]
    recipe = recipe_with(chosen)
    assert "n_words" not in filters.signals_needed(recipe, recipe.datasets[0])
    assert recipe.transform_of(recipe.datasets[0]) == ("zyda",)


def test_words_that_are_split_otherwise(monkeypatch):
    other = dataclasses.replace(filters.build.SIGNALS["n_words"], name="n_words.script")
    monkeypatch.setitem(filters.build.SIGNALS, "n_words.script", other)
    spec = {
        "set": "mine",
        "words": "script",
        "without": ["n_words.max"],
        "rules": [
            {"signal": "n_words", "min": 5, "max": 9},
            {"signal": "zyda.fraction_numerical", "max": 0.2},
            {"name": "both", "all": [{"signal": "n_words", "max": 7}]},
        ],
        "reports": ["n_words", "zyda.pii_count"],
    }
    recipe = recipe_with(spec)
    assert {r.name: r.columns for r in filters.resolve(recipe, recipe.datasets[0])} == {
        "n_words.script.min": ("n_words.script",),
        "zyda.fraction_numerical.max": ("zyda.fraction_numerical",),
        "both": ("n_words.script",),
    }
    assert filters.signals_needed(recipe, recipe.datasets[0])[-1] == "zyda.pii_count"


def test_another_bound_is_another_rule_for_fingerprints():
    plain, looser = POOR, json.loads(json.dumps(POOR).replace("50", "49"))
    of = [fingerprint([r.to_json() for r in rules_of(item, dataset=CARRIED).values()]) for item in (plain, looser)]
    assert of[0] != of[1]
    scoped, moved = (rules_of(item, language=LANGUAGE) for item in (BY_LANGUAGE, BY_LANGUAGE | {"by_language": {}}))
    name = "zyda.mean_word_length.max"
    assert scoped[name].to_json() == moved[name].to_json() | {"but": ["de", "th", "zh"]}


@pytest.mark.parametrize(
    ("items", "keys", "message"),
    [
        ([BY_LANGUAGE], {}, "the rule zyda.mean_word_length.min goes by language: give language: {model: PATH}"),
        ([{"column": "score", "min": 3}], {}, "dataset d: the rule metadata.score.min goes by the column 'score'"),
        ([{"signal": "url.list_counts.words", "max": 0}], {}, "needs url: COLUMN of the dataset and url_lists.words"),
        ([{"signal": "url.list_counts.wrods", "max": 0}], {}, "'url.list_counts.wrods'; did you mean url.list_counts"),
        ([{"signal": "url.domain", "min": 0}], {}, "url.domain is a label"),
        ([{"name": "x", "all": [{"signal": "n_wrods", "min": 1}]}], {}, "no signal 'n_wrods'; did you mean n_words?"),
        ([{"set": "zyda", "without": ["zyda.pii"]}], {}, "zyda has no 'zyda.pii' to go without"),
        ([{"set": "zdya"}], {}, "no rule set 'zdya'; did you mean zyda?"),
        (
            [{"set": "s", "rules": [{"name": "x", "any": [{"signal": "n_words", "min": n}]}]} for n in (1, 2)],
            {},
            "two rule sets have different rules x; leave one out by without: [x]",
        ),
        ([{"name": "x", "any": [{"signal": "n_words", "min": 1}]}] * 2, {}, "two rules x;"),
    ],
)
def test_mistakes_are_named(items, keys, message):
    with pytest.raises(RecipeError) as raised:
        rules_of(*items, **keys)
    assert message in str(raised.value)


VALUE = st.none() | st.integers(-4, 4)
ROWS = st.lists(st.tuples(VALUE, VALUE, st.sampled_from(["en", "zh", None])), min_size=1, max_size=12)
SIMPLE = st.builds(
    lambda signal, test, bound, known, scope: Rule(f"{signal}.{test}", signal, test, float(bound), known, **scope),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["min", "max"]),
    st.integers(-4, 4),
    st.booleans(),
    st.sampled_from([{}, {"only": ("zh",)}, {"but": ("zh",)}]),
)
RULES = st.recursive(
    SIMPLE,
    lambda rules: st.builds(
        lambda test, parts: Composite("c", test, tuple(parts)),
        st.sampled_from(["any", "all"]),
        st.lists(rules, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


def loosened(rule, step):
    if isinstance(rule, Composite):
        return dataclasses.replace(rule, parts=tuple(loosened(part, step) for part in rule.parts))
    return dataclasses.replace(rule, bound=rule.bound - step if rule.test == "min" else rule.bound + step)


def twin(rule, row):
    """Whether a rule removes a document, in plain words."""
    if isinstance(rule, Composite):
        return (any if rule.test == "any" else all)(twin(part, row) for part in rule.parts)
    if (rule.only and row["language"] not in rule.only) or row["language"] in rule.but:
        return False
    value = row[rule.signal]
    if value is None:
        return rule.known
    return value < rule.bound if rule.test == "min" else value > rule.bound


@given(ROWS, RULES, st.integers(0, 3))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_rules_are_their_definition_and_looser_ones_keep_a_superset(rows, rule, step):
    columns = zip(*rows, strict=True)
    types = (pa.float64(), pa.float64(), pa.string())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    table = pa.RecordBatch.from_arrays(arrays, names=["a", "b", "language"])
    strict, loose = rule.removes(table), loosened(rule, step).removes(table)
    assert strict.tolist() == [twin(rule, row) for row in table.to_pylist()]
    assert not (loose & ~strict).any()
    assert not (strict & ~rule.applies(table)).any()
    chunked = pa.Table.from_batches([table, table])
    assert rule.removes(chunked).tolist() == strict.tolist() * 2
