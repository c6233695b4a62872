"""What a stage says of itself: its line, `progress.json`, and Ray's metrics."""

import io
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from zydaflow.engine import begin_progress, progress
from zydaflow.engine.progress import Meter, read_progress
from zydaflow.provenance.commits import Store
from zydaflow.stages.unit import Done


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, as a meter sees them."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def _meter(store: Store, stage: str, stream: io.StringIO, units: int = 4, bytes_: int = 4000) -> Meter:
    meter = Meter(store, stage, units, bytes_, 2, stream)
    meter.running, meter.retried, meter.failed = 2, 1, 1
    return meter


def test_a_live_line_says_what_runs_and_how_long_it_takes_yet(store: Store, clock: list[float]) -> None:
    terminal = Terminal()
    meter = _meter(store, "measure", terminal)
    clock[0] += 10
    meter.finished(Done(5, 2_000_000), 1000)
    meter.tick()
    line = "measure   1/4 units · 2 running · 1 retried · 1 failed · 2 reused · 5 documents · 2.0 MB at 0.2 MB/s"
    assert terminal.getvalue() == f"\r\x1b[2K{f'{line} · 10 s · 30 s left'[:79]}"
    meter.close()
    assert terminal.getvalue().endswith(f"\r\x1b[2K{line.replace(' · 2 running', '')} · 10 s\n")


def test_nothing_is_left_to_guess_before_a_unit_is_done(store: Store, clock: list[float]) -> None:
    _meter(store, "measure", io.StringIO()).tick()
    found = read_progress(store.root)
    assert found is not None
    assert found["seconds_left"] is None


def test_units_without_bytes_count_alike(store: Store, clock: list[float]) -> None:
    meter = _meter(store, "cluster", io.StringIO(), bytes_=0)
    clock[0] += 6
    meter.finished(Done(1, 0), 0)
    meter.tick()
    found = read_progress(store.root)
    assert found is not None
    assert found["seconds_left"] == 18


def test_the_file_tells_of_all_stages_so_far_and_a_new_run_begins_anew(store: Store) -> None:
    begin_progress(store)
    _meter(store, "measure", io.StringIO()).close()
    meter = _meter(store, "match", io.StringIO())
    meter.error = "unit: OSError: timed out"
    meter.close("stopped")
    found = read_progress(store.root)
    assert found is not None
    told = [(stage["stage"], stage["state"]) for stage in [*found["before"], found]]
    assert told == [("start-up", "running"), ("measure", "done"), ("match", "stopped")]
    assert (found["retried"], found["failed"], found["reused"], found["running"]) == (1, 1, 2, 0)
    assert found["error"] == "unit: OSError: timed out"
    begin_progress(store)
    found = read_progress(store.root)
    assert found is not None
    assert found["before"] == []


@pytest.fixture
def exporting() -> Iterator[str]:
    """The address at which a Ray node gives its metrics to Prometheus."""
    pytest.importorskip("prometheus_client", reason="Ray exports metrics with ray[default] alone")
    ray.init(
        address="local",
        num_cpus=1,
        include_dashboard=False,
        object_store_memory=80_000_000,
        log_to_driver=False,
        _system_config={"metrics_report_interval_ms": 500},
    )
    (node,) = ray.nodes()
    yield f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    ray.shutdown()


def test_prometheus_can_read_the_counts_of_a_stage(store: Store, exporting: str) -> None:
    meter = _meter(store, "measure", io.StringIO())
    meter.finished(Done(5, 1000), 1000)
    meter._write("running")
    meter.finished(Done(2, 500), 1000)
    meter.close()
    wanted = {
        "ray_zydaflow_units_done_total": 2,
        "ray_zydaflow_units_retried_total": 1,
        "ray_zydaflow_units_failed_total": 1,
        "ray_zydaflow_documents_total": 7,
        "ray_zydaflow_bytes_total": 1500,
        "ray_zydaflow_units": 4,
        "ray_zydaflow_units_running": 0,
    }
    deadline = time.monotonic() + 60
    while (found := _exported(exporting, store.root.name)) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def _exported(address: str, run: str) -> dict[str, float]:
    """The run's metrics by name, as the node gives them now."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    ours = [line for line in lines if f'run="{run}"' in line and 'stage="measure"' in line]
    return {line.partition("{")[0]: float(line.rpartition(" ")[2]) for line in ours}
