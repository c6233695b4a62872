import json

import pyarrow as pa
import pytest

from zydaflow import signals
from zydaflow.signals import SIGNALS, Resources, measure_records
from zydaflow.signals.metadata import column, number, text

# A value as it stands in JSON: as a number, as a text.
VALUES = {
    "3": (3.0, "3"),
    "-2.5e3": (-2500.0, "-2500.0"),
    "true": (1.0, "true"),
    '"3.50"': (3.5, "3.50"),
    '"3 stars"': (None, "3 stars"),
    '"en"': (None, "en"),
    '""': (None, ""),
    "null": (None, None),
    "[1]": (None, "[1]"),
    "9007199254740993": (9007199254740992.0, "9007199254740993"),
    "1" + "0" * 400: (None, "1" + "0" * 400),
}


def measured(records, column="x"):
    names = [number(column), text(column)]
    found = measure_records(names, pa.array(records, pa.string()), None, Resources())
    return list(zip(*(found[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize("value", VALUES)
def test_values(value):
    assert measured([f'{{"x":{value},"y":1}}']) == [VALUES[value]]


def test_records_without_the_column_have_no_value():
    assert measured(['{"y":1}', "{}", None, '{"x":1}']) == [(None, None)] * 3 + [(1.0, "1")]
    assert measured([]) == []


def test_a_column_may_have_any_name():
    record = json.dumps({"text.a b": 2})
    assert measured([record], "text.a b") == [(2.0, "2")]
    assert column(number("text.a b")) == column(text("text.a b")) == "text.a b"
    assert column("n_words") is None


def test_they_are_measured_beside_the_text():
    names = ["n_words", number("x"), text("x"), "url.domain"]
    given = measure_records(names, pa.array(['{"x":1,"link":"https://a.b/c"}', None]), "link", Resources())
    texts = pa.array(["two words", ""], pa.large_string())
    table = signals.measure(names, texts, texts, Resources(), given)
    assert table.schema.types == [SIGNALS[name].type for name in names]
    assert table.to_pylist() == [
        {"n_words": 2, number("x"): 1.0, text("x"): "1", "url.domain": "a.b"},
        {"n_words": 0, number("x"): None, text("x"): None, "url.domain": None},
    ]


def test_nothing_is_read_for_other_signals():
    assert measure_records(["n_words"], pa.array(["no JSON"]), "link", Resources()) == {}


@pytest.mark.parametrize("name", [number("x"), text("x"), "url.domain", "url.list_counts.words"])
def test_each_says_what_it_is(name):
    signal = SIGNALS[name]
    assert name in SIGNALS
    assert signal.name == name
    assert signal.specification.endswith(".")
    assert (len(signal.bins) > 0) == (signal.kind != "text")
    assert (signal.bins[1:] > signal.bins[:-1]).all()
