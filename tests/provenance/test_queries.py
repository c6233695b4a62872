from pathlib import Path

import numpy as np
import pytest
from small import HOSTILE

from zydaflow import Run, open_run
from zydaflow.errors import InputError
from zydaflow.provenance import plots, queries


@pytest.fixture(scope="module")
def run(small_run: Path) -> Run:
    return open_run(small_run)


def test_rule_counts(run: Run) -> None:
    rows = [tuple(row.values()) for row in queries.rule_counts(run).to_pylist()]
    assert rows == [
        ("a", "n_words.min", "min 20", 31, 2, 2, 2),
        ("a", "zyda.fraction_numerical.max", "max 0.2", 31, 2, 2, 2),
        ("a", "zyda.mean_word_length.max", "max 12", 31, 0, 0, 0),
        ("b", "n_words.min", "min 20", 29, 1, 1, 1),
        ("b", "zyda.fraction_numerical.max", "max 0.2", 29, 1, 1, 1),
        ("b", "zyda.mean_word_length.max", "max 12", 29, 0, 0, 0),
    ]


def test_documents_on_either_side_of_a_threshold(run: Run) -> None:
    near = queries.near_threshold(run, "a", "n_words.min", count=2)
    assert near["side"].to_pylist() == ["removed", "removed", "let by", "let by"]
    assert near["excerpt"].to_pylist()[:2] == ["too short", HOSTILE]
    values = near["value"].to_pylist()
    assert values == sorted(values)
    assert near["verdict"].to_pylist()[:2] == ["filtered"] * 2
    everything = run.signals("a", ["n_words", "verdict"]).to_pylist()
    beyond = sorted(
        row["n_words"] for row in everything if row["n_words"] >= 20 and row["verdict"] in ("kept", "filtered")
    )
    assert values[2:] == beyond[:2]


def test_a_rule_that_breaks_nothing_has_one_side(run: Run) -> None:
    near = queries.near_threshold(run, "b", "zyda.mean_word_length.max")
    assert near["side"].to_pylist() == ["let by"] * 3
    with pytest.raises(InputError, match=r"b has no rule 'n_words\.max' with a bound; did you mean n_words\.min\?"):
        queries.near_threshold(run, "b", "n_words.max")


def test_overlap_and_matches(run: Run) -> None:
    assert np.array_equal(queries.overlap(run), [[3, 0], [6, 1]])
    assert np.array_equal(queries.matches(run), [[6, 6], [6, 2]])


def test_pictures_without_matplotlib_say_how_to_get_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'zydaflow\[notebook\]'"):
        plots.rule_bars(run)


def test_every_signal_with_spread_can_be_drawn(run: Run) -> None:
    assert plots.signals_with_spread(run)[0] == "n_words"
    figure = plots.distribution(run, "n_words")
    assert [axis.get_ylabel() for axis in figure.axes] == ["a", "b"]
    red = [line for line in figure.axes[0].lines if line.get_color() == plots.BOUND]
    assert [line.get_xdata()[0] for line in red] == [pytest.approx(8 + (20 - 18) / (24 - 18))]
