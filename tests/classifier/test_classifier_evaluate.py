import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.classifier.evaluate import Bin, Cut, evaluate, threshold_for

SCORES = np.array([0.95, 0.9, 0.85, 0.6, 0.5, 0.45, 0.3, 0.15, 0.05, 0.0])
GOOD = np.array([1, 1, 0, 1, 1, 0, 0, 0, 0, 0], bool)


def test_by_hand():
    found = evaluate(SCORES, GOOD, keep=0.3)
    assert (found.good, found.bad) == (4, 6)
    assert found.half == Cut(0.5, 0.5, 4 / 5, 1.0)
    assert found.wished == Cut(0.85, 0.3, 2 / 3, 2 / 4)
    assert found.shares[:3] == (Cut(0.95, 0.1, 1.0, 1 / 4),) * 3
    assert found.calibration == (
        Bin(0.0, 2, 0.025, 0.0),
        Bin(0.1, 1, 0.15, 0.0),
        Bin(0.3, 1, 0.3, 0.0),
        Bin(0.4, 1, 0.45, 0.0),
        Bin(0.5, 1, 0.5, 1.0),
        Bin(0.6, 1, 0.6, 1.0),
        Bin(0.8, 1, 0.85, 0.0),
        Bin(0.9, 2, pytest.approx(0.925), 1.0),
    )
    apart = 2 * 0.025 + 0.15 + 0.3 + 0.45 + 0.5 + 0.4 + 0.85 + 2 * 0.075
    assert found.calibration_error == pytest.approx(apart / 10)


def test_by_default_as_many_are_kept_as_are_good():
    assert evaluate(SCORES, GOOD).wished.keeps == 0.4


def test_ties_are_kept_together():
    scores = np.array([0.7, 0.7, 0.7, 0.1])
    assert evaluate(scores, np.array([True, False, False, False]), keep=0.25).wished == Cut(0.7, 0.75, 1 / 3, 1.0)


def test_certain_scores_are_in_the_last_bin():
    found = evaluate(np.array([1.0, 1.0]), np.array([True, False]))
    assert found.calibration == (Bin(0.9, 2, 1.0, 0.5),)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.001, 1))
def test_a_threshold_is_the_highest_that_keeps_enough(values, keep):
    scores = np.array(values)
    threshold = threshold_for(scores, keep)
    enough = max(1, np.ceil(round(keep * len(scores), 6)))
    assert (scores >= threshold).sum() >= enough > (scores > threshold).sum()
