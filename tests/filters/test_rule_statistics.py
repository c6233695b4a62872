import functools
import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.filters import Rule, RuleStatistics, judge, merge, rule_alarms
from zydaflow.filters.statistics import SAMPLES
from zydaflow.signals import SIGNALS

RULES = (
    Rule("language.keep", "language", "allow", ("en",)),
    Rule("n_words.min", "n_words", "min", 10.0),
    Rule("zyda.mean_word_length.max", "zyda.mean_word_length", "max", 5.0),
)
NAMES = ("n_words", "zyda.mean_word_length", "language")


def table_of(rows):
    """Rows of (language, words, mean word length), of 100 bytes, 101 bytes, …"""
    languages, words, lengths = zip(*rows, strict=True) if rows else ((), (), ())
    count = len(rows)
    return pa.RecordBatch.from_pydict(
        {
            "position": pa.array(range(count), pa.int64()),
            "id": pa.array([f"id{n}" for n in range(count)], pa.string()),
            "bytes": pa.array(range(100, 100 + count), pa.int64()),
            "excerpt": pa.array([f"text {n}" for n in range(count)], pa.large_string()),
            "language": pa.array(languages, pa.string()),
            "n_words": pa.array(words, pa.int64()),
            "zyda.mean_word_length": pa.array(lengths, pa.float64()),
        }
    )


def statistics_of(table, file="f", judged=None):
    statistics = RuleStatistics(RULES, NAMES)
    statistics.add(table, judge(table, RULES), np.ones(len(table), bool) if judged is None else judged, file)
    return json.loads(json.dumps(statistics.to_json(), allow_nan=False))


def counts(statistics, rule):
    found = statistics["rules"][rule]
    return {name: tuple(found[name].values()) for name in ("seen", "broken_at_all", "broken_first", "broken_alone")}


def test_documents_that_break_one_two_and_all_rules():
    table = table_of([("en", 10, 5.0), ("en", 9, 5.0), ("fr", 9, 5.0), ("fr", 9, 5.1), (None, 9, 5.1), ("en", 0, 9.0)])
    judged = np.array([True, True, True, True, True, False])
    statistics = statistics_of(table, judged=judged)
    assert counts(statistics, "language.keep") == {
        "seen": (4, 406), "broken_at_all": (2, 205), "broken_first": (2, 205), "broken_alone": (0, 0),
    }  # fmt: skip
    assert counts(statistics, "n_words.min") == {
        "seen": (5, 510), "broken_at_all": (4, 410), "broken_first": (2, 205), "broken_alone": (1, 101),
    }  # fmt: skip
    assert counts(statistics, "zyda.mean_word_length.max") == {
        "seen": (5, 510), "broken_at_all": (2, 207), "broken_first": (0, 0), "broken_alone": (0, 0),
    }  # fmt: skip
    assert statistics["rules"]["n_words.min"]["languages"] == {
        "en": {"seen": 2, "broken": 1},
        "fr": {"seen": 2, "broken": 2},
    }


def test_histograms():
    statistics = statistics_of(table_of([("en", 10, 5.0), ("fr", 9, 5.0), (None, 12, 5.1), ("en", 10**9, -1.0)]))
    language = statistics["signals"]["language"]
    assert language == {"all": {"en": 2, "fr": 1}, "kept": {"en": 2}, "null": {"all": 1, "kept": 0}}
    words = statistics["signals"]["n_words"]
    edges = SIGNALS["n_words"].bins
    assert len(words["all"]) == len(edges) + 1
    expected = np.bincount(np.searchsorted(edges, [10, 9, 12, 10**9], side="right"), minlength=len(edges) + 1)
    assert words["all"] == expected.tolist()
    assert (sum(words["all"]), sum(words["kept"])) == (4, 2)
    assert words["all"][-1] == 1
    assert statistics["signals"]["zyda.mean_word_length"]["all"][0] == 1


def test_a_value_on_an_edge_counts_above_it():
    edge = int(SIGNALS["n_words"].bins[3])
    counted = statistics_of(table_of([("en", edge, 4.0)]))["signals"]["n_words"]["all"]
    assert counted.index(1) == 4


def test_samples_show_value_and_place():
    statistics = statistics_of(table_of([("en", 10, 5.0), ("fr", 9, 5.0)]), file="a/b.jsonl")
    (sample,) = statistics["rules"]["language.keep"]["samples"]
    assert len(sample.pop("place_hash")) == 16
    assert sample == {"file": "a/b.jsonl", "position": 1, "id": "id1", "excerpt": "text 1", "value": "fr"}
    assert statistics["rules"]["n_words.min"]["rule"]["bound"] == 10
    assert statistics["rules"]["n_words.min"]["samples"][0]["value"] == 9


ROWS = st.tuples(
    st.sampled_from(["en", "fr", "zh", None]), st.integers(0, 30), st.floats(0, 30, allow_nan=False, width=32)
)


@given(st.lists(ROWS, max_size=40), st.lists(st.integers(0, 40), max_size=4), st.permutations(range(5)))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_any_split_in_any_order_gives_the_same(rows, cuts, order):
    table = table_of(rows)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    pieces = [table.slice(start, stop - start) for start, stop in itertools.pairwise(edges)]
    parts = [statistics_of(pieces[n]) for n in order if n < len(pieces)]
    whole = statistics_of(table)
    assert json.dumps(functools.reduce(merge, parts)) == json.dumps(whole)
    together = RuleStatistics(RULES, NAMES)
    for piece in pieces:
        together.add(piece, judge(piece, RULES), np.ones(len(piece), bool), "f")
    assert json.dumps(together.to_json()) == json.dumps(whole)
    assert all(len(rule["samples"]) <= SAMPLES for rule in whole["rules"].values())


def test_samples_do_not_favour_the_first_documents():
    statistics = statistics_of(table_of([("fr", 10, 5.0)] * 1000))
    assert max(sample["position"] for sample in statistics["rules"]["language.keep"]["samples"]) >= 100


def test_no_rules():
    statistics = RuleStatistics((), ("n_words",))
    statistics.add(table_of([("en", 1, 1.0)]), np.empty((1, 0), bool), np.array([True]), "f")
    assert statistics.to_json()["rules"] == {}
    assert sum(statistics.to_json()["signals"]["n_words"]["kept"]) == 1


def test_alarms():
    rows = [("en", 100, 4.0)] * 20 + [("zh", 1, 4.0), ("th", 1, 4.0), ("de", 1, 4.0), ("de", 100, 4.0)]
    alarms = rule_alarms(statistics_of(table_of(rows)))
    found = [(alarm["rule"], alarm["kind"], alarm.get("language")) for alarm in alarms]
    assert found == [
        ("n_words.min", "removes_language", "th"),
        ("n_words.min", "removes_language", "zh"),
        ("zyda.mean_word_length.max", "removes_none", None),
    ]
    assert "n_words.min removes 1 of 1 documents in the language th" in [alarm["message"] for alarm in alarms]


@pytest.mark.parametrize(("broken", "alarmed"), [(95, False), (96, True)])
def test_over_95_percent_of_a_language(broken, alarmed):
    rows = [("zh", 1, 4.0)] * broken + [("zh", 100, 4.0)] * (100 - broken)
    kinds = {alarm["kind"] for alarm in rule_alarms(statistics_of(table_of(rows))) if alarm["rule"] == "n_words.min"}
    assert kinds == ({"removes_language"} if alarmed else set())


def test_everything_removed_and_nothing_seen():
    kinds = [(a["rule"], a["kind"]) for a in rule_alarms(statistics_of(table_of([("fr", 100, 4.0)])))]
    assert kinds == [
        ("language.keep", "removes_all"),
        ("n_words.min", "removes_none"),
        ("zyda.mean_word_length.max", "removes_none"),
    ]
    assert rule_alarms(statistics_of(table_of([]))) == []


@pytest.mark.parametrize(("signal", "alarmed"), [("language_share.de", False), ("language_scores", True)])
def test_rules_about_languages_may_remove_one(signal, alarmed):
    of = {"rule": {"signal": signal}, "seen": {"documents": 2}, "broken_at_all": {"documents": 1}}
    statistics = {"rules": {"r": of | {"languages": {"fr": {"seen": 1, "broken": 1}}}}, "signals": {}}
    assert [alarm["kind"] for alarm in rule_alarms(statistics)] == ["removes_language"] * alarmed
