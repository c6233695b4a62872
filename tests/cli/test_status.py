"""`zydaflow status`: what another shell learns of a run that lives, was killed, failed, or is finished."""

import io
from pathlib import Path

import pytest

from zydaflow import cli
from zydaflow.engine import begin_progress
from zydaflow.engine.failures import FILE, write
from zydaflow.engine.progress import Meter
from zydaflow.provenance.commits import Store
from zydaflow.provenance.lock import owned
from zydaflow.stages.unit import Done


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Of a run in its first stage."""
    store = Store(tmp_path)
    begin_progress(store)
    meter = Meter(store, "measure", 4, 4000, 0, io.StringIO())
    meter.running, meter.retried, meter.error = 2, 1, "blog@0: TimeoutError: storage did not answer"
    meter.finished(Done(5, 2_000_000), 1000)
    meter.tick()
    return store


def test_a_run_that_lives(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with owned(store.root):
        assert cli.main(["status", str(store.root)]) == 0
    first, began, measure, error = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{store.root}: running: measure, about 0 s left of this stage; process ")
    assert began.startswith("began 2")
    assert measure.split(" · ")[:3] == ["  measure   running  1/4 units", "2 running", "1 retried"]
    assert error == "last error: blog@0: TimeoutError: storage did not answer"


def test_a_run_that_was_killed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", str(store.root)]) == 4
    assert "not running, and not finished: it came to measure; the same command goes on" in capsys.readouterr().out


def test_a_run_with_failures_names_them(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    write(store, "measure", [{"unit": f"u{k}", "error": "ValueError: no"} for k in range(7)])
    assert cli.main(["status", str(store.root)]) == 4
    out = capsys.readouterr().out
    assert "failed: u4: ValueError: no" in out
    assert "u5" not in out
    assert str(store.path(FILE)) in out
    assert "to go on, in " in out


def test_a_folder_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", str(tmp_path)]) == 3
    assert "no run has begun here" in capsys.readouterr().err
