"""What nobody foresaw, and what a person does on purpose: told, stopped, and gone on with by the command it names."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from conftest import DEADLINE, Faults, Runs, until
from ray.cluster_utils import Cluster
from serial import results

from zydaflow.provenance.commits import Store

LOCAL = ("--workers", "1")


def test_an_unknown_failure_is_told_the_others_finish_and_the_command_that_it_names_goes_on(
    runs: Runs, faults: Faults, environment: dict[str, str], undisturbed: dict[str, str]
) -> None:
    shards = sorted(name for name in undisturbed if name.endswith(".arrow"))
    faults.order("tokenize", "before", "error", shards[1])
    running = runs.start("a")
    _, told = running.communicate(timeout=DEADLINE)
    assert running.returncode == 4
    assert "KeyError: 'nobody foresaw this'" in told
    found = json.loads((runs.folder / "a" / "failures.json").read_bytes())
    (failure,) = found["failures"]
    assert failure["unit"] == shards[1]
    assert 'raise KeyError("nobody foresaw this")' in failure["traceback"]
    assert len(list(Store(runs.folder / "a").records("tokenize"))) == len(shards) - 1
    assert f"to go on: {found['resume']}" in told
    faults.clear()
    resumed = subprocess.run(
        found["resume"],
        shell=True,
        cwd=found["folder"],
        env=environment,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert results(runs.folder / "a") == undisturbed
    assert not (runs.folder / "a" / "failures.json").exists()


@pytest.mark.parametrize(
    ("number", "options"), [(signal.SIGINT, LOCAL), (signal.SIGTERM, ())], ids=["local", "cluster"]
)
def test_a_signal_stops_within_five_seconds(
    runs: Runs, faults: Faults, number: signal.Signals, options: tuple[str, ...]
) -> None:
    faults.order("judge", "before", "hold")
    running = runs.start("a", *options)
    until(faults.held, "worker in mid-stage")
    family = psutil.Process(running.pid).children(recursive=True)  # a Ray of its own
    sent = time.monotonic()
    if options == LOCAL:
        os.killpg(running.pid, number)  # as terminals and batch systems do
    else:
        running.send_signal(number)
    _, told = running.communicate(timeout=DEADLINE)
    assert time.monotonic() - sent < 5
    assert running.returncode == 4
    assert "stopped; the same command resumes" in told
    assert "Traceback" not in told
    assert psutil.wait_procs(family, timeout=30)[1] == []


def test_a_signal_to_all_processes_while_ray_starts(runs: Runs, undisturbed: dict[str, str]) -> None:
    """Ray handles signals in its own way then, and its parts are as old as the moment."""
    running = runs.start("a", *LOCAL)
    driver = psutil.Process(running.pid)
    until(lambda: any(child.name() == "raylet" for child in driver.children()), "node of Ray")
    os.killpg(running.pid, signal.SIGTERM)
    sent = time.monotonic()
    _, told = running.communicate(timeout=DEADLINE)
    assert time.monotonic() - sent < 5
    assert running.returncode == 4
    assert "stopped; the same command resumes" in told
    assert "Traceback" not in told
    runs.finish("a", *LOCAL)
    assert results(runs.folder / "a") == undisturbed


def test_a_second_signal_stops_at_once(runs: Runs, faults: Faults) -> None:
    faults.order("judge", "before", "hold")
    running = runs.start("a", *LOCAL)
    until(faults.held, "worker in mid-stage")
    running.send_signal(signal.SIGTERM)
    running.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, told = running.communicate(timeout=DEADLINE)
    assert time.monotonic() - sent < 1
    assert running.returncode == 4
    assert "Traceback" not in told


def test_two_runs_at_once_on_one_cluster(runs: Runs, undisturbed: dict[str, str]) -> None:
    both = {name: runs.start(name) for name in ("a", "b")}
    for name, running in both.items():
        _, told = running.communicate(timeout=DEADLINE)
        assert running.returncode == 0, told
        assert results(runs.folder / name) == undisturbed


def test_twice_from_one_process_whose_ray_stays(
    runs: Runs, cluster: Cluster, environment: dict[str, str], undisturbed: dict[str, str]
) -> None:
    code = f"""
import ray, zydaflow
zydaflow.run(zydaflow.load_recipe({str(runs.recipe("a"))!r}), address={cluster.address!r})
assert not ray.is_initialized()
ray.init(address={cluster.address!r}, log_to_driver=False)
zydaflow.run(zydaflow.load_recipe({str(runs.recipe("b"))!r}))
assert ray.is_initialized()
print(sum(node["Alive"] for node in ray.nodes()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
    for name in ("a", "b"):
        assert results(runs.folder / name) == undisturbed


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of its own, and what makes it larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_fills_stops_the_run_with_nothing_half_done_until_there_is_space(
    runs: Runs, small_disk: Path, undisturbed: dict[str, str]
) -> None:
    out = small_disk / "out"
    options = (*runs.command("a")[5:], "--out", str(out))
    running = runs.start("a", *options)
    _, told = running.communicate(timeout=DEADLINE)
    assert running.returncode == 4, told
    assert "the disk is full" in told
    store = Store(out)
    assert all(store.intact(file) for record in store.records() for file in record.artefacts.values())
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    runs.finish("a", *options)
    assert results(out) == undisturbed
