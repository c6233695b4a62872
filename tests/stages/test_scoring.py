"""A function on which documents make its process exit, crash, hang or raise: each costs itself alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from zydaflow.errors import RecipeError
from zydaflow.recipe import load_recipe
from zydaflow.stages.scoring import TRIES, Scoring

FUNCTIONS = Path(__file__).parent.parent / "support" / "scorers.py"
SECONDS = 2
REASONS = {
    "exit": "its processing ended the process (exit status 3)",
    "crash": "its processing ended the process (SIGSEGV)",
    "hang": f"its processing took longer than {SECONDS} s",
    "raise": "its processing raised ValueError: a fault in the code",
    "storage": "its processing raised ConnectionError: no answer",
    "killed": "its processing raised MemoryError: the process that tried documents was killed: for want of memory, "
    "most likely",
}


@pytest.fixture
def scoring() -> Iterator[Callable[..., Scoring]]:
    """Makes a scorer of a function, and ends its process."""
    made: list[Scoring] = []

    def make(function: str, **spec: Any) -> Scoring:
        spec = {"function": f"{FUNCTIONS}:{function}", "seconds": SECONDS} | spec
        data = {"name": "x", "datasets": [{"name": "a", "path": "a", "transform": ["zyda"]}], "scorers": {"s": spec}}
        made.append(Scoring(load_recipe(data), "s"))
        return made[-1]

    yield make
    for one in made:
        one.close()


def _records(texts: list[str | None]) -> pa.RecordBatch:
    columns = [pa.array(range(len(texts)), pa.int64()), pa.array(texts, pa.large_string())]
    return pa.record_batch(columns, ["position", "text"])


def test_each_text_gets_its_number_whatever_the_batches(scoring: Callable[..., Scoring]) -> None:
    texts = ["x" * (k % 7) for k in range(100)] + [None, "  \n", "ä"]
    expected = [float(k % 7) or None for k in range(100)] + [None, None, 1.0]
    for batch in (1, 7, 256):
        scores, failures = scoring("length", batch=batch).score(_records(texts), ())
        assert (scores.to_pylist(), failures) == (expected, {})
        assert scores.type == pa.float64()


def test_none_of_no_documents(scoring: Callable[..., Scoring]) -> None:
    scores, failures = scoring("length").score(_records([]), ())
    assert (len(scores), failures) == (0, {})


def test_the_function_sees_the_transformed_text_and_its_keywords(scoring: Callable[..., Scoring]) -> None:
    scores, _ = scoring("length", params={"divide": 2}).score(_records(["a" + "-" * 10 + "b"]), ("zyda",))
    assert scores.to_pylist() == [1.5]


def test_what_is_no_finite_number_is_no_score(scoring: Callable[..., Scoring]) -> None:
    scores, failures = scoring("unsure").score(_records(["nan", "inf", "none", "one"]), ())
    assert (scores.to_pylist(), failures) == ([None, None, None, 1.0], {})


def test_one_in_many_of_each_kind_has_no_score_and_a_reason(scoring: Callable[..., Scoring]) -> None:
    marked = {17: "exit", 18: "raise", 500: "hang", 700: "killed", 701: "storage", 999: "crash"}
    texts = [f"<{marked[k]}>" if k in marked else "x" * (k % 5 + 1) for k in range(1000)]
    scores, failures = scoring("hostile", batch=300).score(_records(texts), ())
    assert scores.to_pylist() == [None if k in marked else float(k % 5 + 1) for k in range(1000)]
    assert {row: failure.reason for row, failure in failures.items()} == {
        k: REASONS[kind] for k, kind in marked.items()
    }
    assert 'raise ValueError("a fault in the code")' in failures[18].traceback


def test_a_batch_that_is_too_large_is_cut_and_those_after_it_are_smaller_at_once(
    scoring: Callable[..., Scoring], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = scoring("hostile", batch=256)
    tried: list[int] = []
    result = one._trial.result

    def spied(path: str, low: int, high: int, *rest: Any) -> Any:
        tried.append(high - low)
        return result(path, low, high, *rest)

    monkeypatch.setattr(one._trial, "result", spied)
    scores, failures = one.score(_records(["<many>"] * 600), ())
    assert (scores.to_pylist(), failures) == ([6.0] * 600, {})
    assert tried == [256] + [4] * 64 + [4] * 86
    assert one.score(_records(["fine"] * 300), ())[1] == {}
    assert tried[-2:] == [256, 44]


def test_a_single_document_is_tried_again_where_it_may_not_be_at_fault(
    scoring: Callable[..., Scoring], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = scoring("hostile")
    tried: list[int] = []

    def fails(path: str, low: int, high: int, *rest: Any) -> Any:
        tried.append(low)
        if len(tried) < TRIES:
            raise ConnectionError("no answer")
        return pa.array([1.0])

    monkeypatch.setattr(one._trial, "result", fails)
    assert one.score(_records(["a"]), ())[0].to_pylist() == [1.0]
    assert tried == [0] * TRIES


def test_what_is_loaded_stays_from_batch_to_batch(scoring: Callable[..., Scoring], tmp_path: Path) -> None:
    (tmp_path / "words").write_text("good better")
    files = {"words": str(tmp_path / "words")}
    one = scoring("Counting", files=files, params={"notes": str(tmp_path / "notes")}, batch=2)
    for _ in range(2):
        assert one.score(_records(["good good", "bad", "better"]), ())[0].to_pylist() == [2.0, 0.0, 1.0]
    assert (tmp_path / "notes").read_text().split() == ["made", "1", "2", "1", "2", "1"]  # the first to warm up


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("short", "scorers.s: the function gave 2 numbers for 3 texts"),
        ("words", "scorers.s: the function must give a number for each text, and gave ListArray"),
        ("constant", "cannot be loaded: TypeError"),
        ("nothing", "cannot be loaded: AttributeError"),
    ],
)
def test_a_function_that_is_none_of_ours_is_refused(
    scoring: Callable[..., Scoring], function: str, message: str
) -> None:
    with pytest.raises(RecipeError, match=message):
        scoring(function).score(_records(["a", "b", "c"]), ())
