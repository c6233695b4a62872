from typing import Any

import pytest

from zydaflow.provenance.binaxis import boundary, extent, ticks
from zydaflow.provenance.distributions import Row, is_flat
from zydaflow.signals import SIGNALS

PII, WORDS, DIGITS = (SIGNALS[name] for name in ("zyda.pii_count", "n_words", "zyda.fraction_numerical"))


def rule(test: str, bound: float) -> dict[str, Any]:
    return {"test": test, "bound": bound}


def row(signal: Any, filled: dict[int, int], *rules: dict[str, Any]) -> Row:
    counts = [filled.get(place, 0) for place in range(len(signal.bins) + 1)]
    return Row("a", counts, counts, 0, list(rules))


@pytest.mark.parametrize(
    ("signal", "test", "bound", "place"),
    [
        (PII, "max", 1, 3.0),  # edges 0, 1, 2: the values from 2 on are removed
        (PII, "min", 1, 2.0),
        (PII, "max", 8, 8.0 + 1 / 3),  # 9 lies a third into the bin from 8 to 11
        (DIGITS, "max", 0.25, 26.0),
        (DIGITS, "max", 0.255, 26.5),
        (DIGITS, "min", -1, 0.0),
        (PII, "max", 10**9, 19.0),
    ],
)
def test_removal_begins_where_the_first_removed_value_lies(signal: Any, test: str, bound: float, place: float) -> None:
    assert boundary(signal, rule(test, bound)) == pytest.approx(place, abs=1e-9)


def test_the_extent_holds_all_documents_and_all_thresholds() -> None:
    assert extent(PII, [row(PII, {1: 5, 2: 1})]) == (1, 5)
    assert extent(PII, [row(PII, {1: 5}), row(PII, {9: 1})]) == (1, 10)
    assert extent(PII, [row(PII, {3: 5}, rule("max", 100))]) == (3, 16)
    assert extent(PII, [row(PII, {}, rule("min", 1))]) == (2, 6)
    assert extent(PII, [row(PII, {})]) == (0, 4)


def test_ticks_are_round_and_apart() -> None:
    assert ticks(DIGITS, 1, 51, 8) == [("0", 1), ("0.1", 11), ("0.2", 21), ("0.3", 31), ("0.4", 41), ("0.5", 51)]
    assert [label for label, _ in ticks(WORDS, 1, 40, 5)] == ["0", "10", "100", "1k", "10k", "100k"]


def test_flat_is_a_signal_that_is_alike_for_all_documents() -> None:
    assert is_flat([row(PII, {1: 5}), row(PII, {1: 7})])
    assert not is_flat([row(PII, {1: 5}), row(PII, {2: 7})])
    assert is_flat([row(PII, {})])
