"""Values by which copies are chosen."""

import functools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.order import VALUE, column, dates, ranks, values

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


def test_columns_of_signals() -> None:
    assert column(pa.array([3, None, 5])).to_pylist()[1] == {"number": None, "text": None}
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
