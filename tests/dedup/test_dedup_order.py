"""Values by which copies are chosen."""

import functools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.order import VALUE, column, dates, ranks, unread_dates, values

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(-2, 2),
    st.text("ab\u00e9\U0001f600", max_size=2),
    st.just([]),
)


def before(one: Any, other: Any, ascending: bool) -> int:
    """The order in words: numbers, then texts, then nothing; each by size or code points."""

    def kind(item: Any) -> int:
        return 0 if isinstance(item, bool | int | float) else 1 if isinstance(item, str) else 2

    if kind(one) != kind(other):
        return kind(one) - kind(other)
    if kind(one) == 2 or one == other:
        return 0
    return (1 if one > other else -1) * (1 if ascending else -1)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(VALUES, max_size=12), st.booleans())
def test_ranks_sort_as_the_sentence_says(items: list[Any], ascending: bool) -> None:
    found = ranks(values(items), ascending)
    order = functools.cmp_to_key(lambda a, b: before(a, b, ascending))
    for i, one in enumerate(items):
        for j, other in enumerate(items):
            assert np.sign(found[i] - found[j]) == np.sign((order(one) > order(other)) - (order(one) < order(other)))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.integers(-(2**70), 2**70), st.decimals(-5, 5, places=3), st.floats(-5, 5)), max_size=9))
def test_numbers_rank_exactly(items: list[Any]) -> None:
    """Decimals as they lie in metadata: as texts."""
    there = [str(item) if isinstance(item, Decimal) else item for item in items]
    exact = [Fraction(item) for item in items]
    places = {number: place for place, number in enumerate(sorted(set(exact)), 1)}
    assert ranks(values(there), ascending=True).tolist() == [places[number] for number in exact]
    assert ranks(values(there), ascending=False).tolist() == [len(places) + 1 - places[number] for number in exact]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text("0123456789-:TZ +/.,JanFebMonGMT()\0é", max_size=30))
def test_any_text_is_a_date_or_is_told(text: str) -> None:
    (seconds,) = dates([text]).field("number").to_pylist()
    assert (seconds is None) == (unread_dates([text]) == [text] or text == "")


def test_texts_that_stand_for_numbers() -> None:
    texts = ["12.50", "-3", "1E-7", "0E-10", "2 days, 1:00:00.5", "0:00:01", "1.10.2", "1e999", ""]
    found = values(texts).to_pylist()
    assert [value["number"] for value in found] == [12.5, -3, 1e-7, 0, 176400.5, 1, None, None, None]
    assert [value["text"] for value in found] == [None] * 6 + texts[6:]


def test_columns_of_signals() -> None:
    assert column(pa.array([3, None, 5])).to_pylist()[1] == {"number": None, "rest": None, "text": None}
    floats = pa.array([0.5, math.nan, None, 2.0])
    assert ranks(column(floats), ascending=True).tolist() == [1, 10, 10, 2]  # what is no number comes last
    assert ranks(column(floats), ascending=False).tolist() == [2, 10, 10, 1]
    labels = column(pa.array(["en", "de", None]))
    assert labels.type == VALUE
    assert np.argsort(ranks(labels, ascending=True), kind="stable").tolist() == [1, 0, 2]
    assert np.argsort(ranks(labels, ascending=False), kind="stable").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0),
        ("1970-02", 31 * 86400),
        ("1970-01-02", 86400),
        ("1970-01-01T01:00:00", 3600),
        ("1970-01-01T01:00:00Z", 3600),
        ("1970-01-01T01:00:00+01:00", 0),
        (12, 12),
        (1.5, 1.5),
        ("Fri, 02 Jan 1970 01:00:00 +0100", 86400),
        ("Friday, 02-Jan-70 00:00:00 GMT", 86400),
        ("2 Jan 1970 00:00:00", 86400),
        (1577836800, 1577836800),
        (1577836800250, 1577836800.25),
        (1577836800250000, 1577836800.25),
        (1577836800250000000, 1577836800.25),
        ("1577836800.5", 1577836800.5),
        ("1610121700000", 1610121700),  # no year 1610, though it could be one
        ("19700102", 86400),
        (-1577836800000, -1577836800),
        ("01/02/2020", None),
        ("01/31/2020", None),
        ("31.12.2020 10:00", None),
        ("20200101123045", None),
        (10**400, None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (["1970"], None),
    ],
)
def test_dates_in_seconds(text: Any, seconds: float | None) -> None:
    assert dates([text]).field("number").to_pylist() == [seconds]
    assert dates([text]).field("text").to_pylist() == [None]
