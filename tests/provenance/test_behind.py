"""What a task hands over: done beside it, in order, and never a record without its files."""

import threading
from pathlib import Path

import pytest

from zydaflow.provenance import commits
from zydaflow.provenance.behind import MOST, Behind
from zydaflow.provenance.commits import Record, Store


def nothing() -> None:
    pass


def test_the_work_goes_on_meanwhile() -> None:
    behind, on, done = Behind(), threading.Event(), []
    behind.hand_over(lambda: done.append(on.wait(60)), nothing)
    assert done == []
    on.set()  # comes only when the giver has gone on
    behind.settle()
    assert done == [True]
    behind.finish()


def test_all_is_done_in_order_and_the_giver_waits_when_too_much_does() -> None:
    behind, on, done = Behind(), threading.Event(), []
    behind.hand_over(lambda: done.append(on.wait(60)), nothing)
    threading.Thread(target=on.set).start()
    for number in range(3 * MOST):
        behind.hand_over(lambda number=number: done.append(number), nothing)
    assert len(done) >= 2 * MOST
    behind.settle()
    assert done == [True, *range(3 * MOST)]
    behind.finish()


def test_nothing_is_done_after_a_failure() -> None:
    behind, on, done = Behind(), threading.Event(), []
    behind.hand_over(lambda: on.wait(60) and done.append(1 / 0), nothing)
    behind.hand_over(lambda: done.append("work"), lambda: done.append("given up"))
    on.set()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            behind.settle()
    with pytest.raises(ZeroDivisionError):
        behind.hand_over(lambda: done.append("work"), lambda: done.append("this too"))
    behind.finish()
    assert done == ["given up", "this too"]


def test_a_store_asked_for_a_file_has_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.behind():
        file = store.write("work/a", b"1")
        assert store.map(file).to_pybytes() == b"1"
        record = store.commit(Record("stage", "unit", "f" * 32, {"a": file}))
        assert store.find("stage", "unit", "f" * 32) == record
        store.commit(Record("stage", "other", "e" * 32))
        assert [found.unit for found in store.records("stage")] == ["other", "unit"]


def test_a_file_that_cannot_be_finished_leaves_no_record_and_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def work(store: Store) -> None:
        with store.behind():
            file = store.write("evidence/a", b"1")
            store.commit(Record("stage", "unit", "f" * 32, {"a": file}))

    monkeypatch.setattr(commits.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        work(Store(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_was_finished_before_the_work_failed_counts(tmp_path: Path) -> None:
    def work(store: Store) -> None:
        with store.behind():
            store.commit(Record("stage", "unit", "f" * 32))
            raise KeyError

    with pytest.raises(KeyError):
        work(Store(tmp_path))
    assert Store(tmp_path).find("stage", "unit", "f" * 32)
