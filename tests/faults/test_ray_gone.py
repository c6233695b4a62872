"""Ray itself is gone, or does not answer: told in time, with the status of what can be resumed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from conftest import DEADLINE, Faults, Runs, nodes, until
from serial import results

LOCAL = ("--workers", "1")
IMPATIENT = """
import sys
from zydaflow.engine import watch
watch.PATIENCE = sys.modules["zydaflow.engine.session"].PATIENCE = 1.0
watch._SOON = 0.2
from zydaflow.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("process", "what"), [("gcs_server", "the head of Ray"), ("raylet", "Ray's node on this machine")]
)
def test_a_ray_of_our_own_that_dies(
    runs: Runs, faults: Faults, undisturbed: dict[str, str], process: str, what: str
) -> None:
    faults.order("judge", "before", "hold")
    running = runs.start("a", *LOCAL)
    until(faults.held, "worker in mid-stage")
    family = psutil.Process(running.pid).children(recursive=True)
    but_agents = [member for member in family if "Agent" not in member.name()]  # which look for a head for a minute
    next(member for member in family if member.name() == process).kill()
    killed = time.monotonic()
    _, told = running.communicate(timeout=DEADLINE)
    assert time.monotonic() - killed < 10
    assert running.returncode == 4, told
    assert what in told
    assert f"is gone; to go on: {sys.executable} -m zydaflow run" in told
    assert psutil.wait_procs(but_agents, timeout=30)[1] == []
    faults.clear()
    if process == "gcs_server":
        runs.finish("a", *LOCAL)
        assert results(runs.folder / "a") == undisturbed


def _impatient(runs: Runs, environment: dict[str, str], address: str) -> subprocess.Popen:
    command = [sys.executable, "-c", IMPATIENT, *runs.command("a", "--address", address)[3:]]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_the_head_of_a_cluster_dies(runs: Runs, faults: Faults, environment: dict[str, str]) -> None:
    with nodes(1, environment) as cluster:
        address = cluster.address
        faults.order("judge", "before", "hold")
        running = _impatient(runs, environment, address)
        until(faults.held, "worker in mid-stage")
        os.kill(cluster.head_node.all_processes["gcs_server"][0].process.pid, signal.SIGKILL)
        _, told = running.communicate(timeout=DEADLINE)
        cluster.remove_node(cluster.head_node, allow_graceful=False)
    assert running.returncode == 4, told
    assert f"the head of Ray, at {address}, does not answer; waiting 1 s for it" in told
    assert f"the head of Ray, at {address}, is gone; to go on: " in told


@pytest.fixture
def deaf() -> Iterator[str]:
    """The address of something that listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_cluster_that_does_not_answer_is_not_waited_for_without_end(
    runs: Runs, environment: dict[str, str], deaf: str
) -> None:
    running = _impatient(runs, environment, deaf)
    _, told = running.communicate(timeout=DEADLINE)
    assert running.returncode == 4, told
    assert f"the Ray cluster at {deaf} does not answer yet; waiting up to 1 s" in told
    assert f"the Ray cluster at {deaf} does not answer; is its head alive? To go on: " in told
    assert not os.path.exists(runs.folder / "a" / "commits")
