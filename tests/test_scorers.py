"""Functions that recipes name: found and checked before any of their code runs, and named by their content."""

from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from zydaflow import scorers
from zydaflow.errors import InputError, RecipeError
from zydaflow.recipe import Recipe, ScorerSpec, load_recipe

TEXTS = pa.array(["a", "b", "c"], pa.large_string())


def _recipe(**spec: Any) -> Recipe:
    return load_recipe({"name": "x", "datasets": [{"name": "a", "path": "a"}], "scorers": {"s": spec}})


def _spec(**spec: Any) -> ScorerSpec:
    return _recipe(**spec).scorers["s"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(
        "raise SystemExit\nfrom math import log as ln\n\ndef score(texts): ...\n\nclass Model: ...\n\nx = y = 1\n"
    )
    return path


@pytest.mark.parametrize("name", ["score", "Model", "x", "y", "ln"])
def test_what_a_file_defines_is_found_without_running_it(file: Path, name: str) -> None:
    scorers.check(_recipe(function=f"{file}:{name}"))


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        ("mine.py:scor", RecipeError, r"scorers.s.function: .*mine.py has no 'scor'; did you mean score\?"),
        ("gone.py:score", InputError, r"scorers.s.function: .*gone.py: no such file"),
        ("broken.py:score", RecipeError, r"scorers.s.function: .*broken.py is no Python"),
        ("edu", RecipeError, r"scorers.s.function: edu is neither FILE.py:NAME nor an entry point"),
    ],
)
def test_what_is_not_there_is_named(
    file: Path, function: str, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    (file.parent / "broken.py").write_text("def score(:\n")
    with pytest.raises(error, match=message):
        scorers.check(_recipe(function=function))


def test_a_file_that_is_missing_is_named(file: Path) -> None:
    with pytest.raises(InputError, match=r"scorers.s.files: /nowhere/model.bin: No such file"):
        scorers.check(_recipe(function=f"{file}:score", files={"model": "/nowhere/model.bin"}))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"function": "mine.py:1x"}, "names no function"),
        ({"function": "f", "params": {"a": 1}, "files": {"a": "b"}}, "a is among params too"),
        ({"function": "f", "actors": 0}, "scorers.s.actors"),
        ({"function": "f", "device": "cuda"}, "scorers.s.device"),
        ({}, "scorers.s.function"),
    ],
)
def test_a_recipe_is_refused(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        _recipe(**spec)


def test_a_dataset_that_names_no_scorer_of_the_recipe_is_refused() -> None:
    data = {
        "name": "x",
        "datasets": [{"name": "a", "path": "a", "scorers": ["t"]}],
        "scorers": {"s": {"function": "f"}},
    }
    with pytest.raises(RecipeError, match=r"scorers: dataset a names 't', which is none of s"):
        load_recipe(data)


def test_the_fingerprint_is_that_of_all_that_scores_depend_on(file: Path) -> None:
    model = file.parent / "model.bin"
    model.write_bytes(b"1")
    spec = {"function": f"{file}:score", "params": {"a": 1}, "files": {"model": str(model)}}
    one = scorers.scorer_fingerprint(_spec(**spec))
    means = {"actors": 3, "memory": "1GB", "gpus": 1, "seconds": 9, "batch": 5}
    assert scorers.scorer_fingerprint(_spec(**spec, **means)) == one
    assert scorers.scorer_fingerprint(_spec(**spec | {"params": {"a": 2}})) != one
    assert scorers.scorer_fingerprint(_spec(**spec | {"function": f"{file}:Model"})) != one
    model.write_bytes(b"22")
    assert scorers.scorer_fingerprint(_spec(**spec)) != one
    model.write_bytes(b"1")
    assert scorers.scorer_fingerprint(_spec(**spec)) == one
    moved = file.with_name("moved.py")
    moved.write_bytes(file.read_bytes())
    assert scorers.scorer_fingerprint(_spec(**spec | {"function": f"{moved}:score"})) == one
    file.write_text(file.read_text() + "# other\n")
    assert scorers.scorer_fingerprint(_spec(**spec)) != one


def test_an_entry_point_is_found_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("edu", "textwrap:dedent", scorers.GROUP)
    monkeypatch.setattr(scorers, "_entry_points", lambda: {"edu": entry})
    recipe = _recipe(function="edu")
    scorers.check(recipe)
    (path,) = scorers.files_of(recipe)
    assert path.endswith("textwrap.py")
    assert scorers.load("s", recipe.scorers["s"])("  a") == "a"
    with pytest.raises(RecipeError, match=r"did you mean edu\?"):
        scorers.check(_recipe(function="edus"))


@pytest.mark.parametrize(
    "given",
    [
        [1, 2, None],
        np.array([1, 2, np.nan], np.float32),
        pa.array([1, 2, None], pa.int8()),
        pa.chunked_array([[1.0], [2.0, float("inf")]]),
        np.array([1, 2, -np.inf]),
        [Decimal(1), Decimal(2), None],
    ],
)
def test_any_column_of_numbers_will_do(given: Any) -> None:
    scores = scorers.call("s", lambda texts: given, TEXTS)
    assert scores.type == pa.float64()
    assert scores.to_pylist() == [1.0, 2.0, None]


@pytest.mark.parametrize(
    "given", [None, 3, [[1], [2], [3]], {"a": 1}, object(), [1, 2], np.ones((3, 2)), ["1", "2", "3"], [1, "b", 2]]
)
def test_anything_else_will_not(given: Any) -> None:
    with pytest.raises(RecipeError, match=r"scorers.s: the function"):
        scorers.call("s", lambda texts: given, TEXTS)


def test_no_number_for_any_text_is_no_score() -> None:
    assert scorers.call("s", lambda texts: [None] * 3, TEXTS).to_pylist() == [None] * 3
