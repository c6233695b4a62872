"""Runs on a cluster in which workers, drivers and nodes are killed at random moments, for as long as one likes."""

import os
import random
import subprocess
import time

import psutil
import pytest
from conftest import NODE, Runs, raylet
from ray.cluster_utils import Cluster
from serial import results

from zydaflow.provenance.verify import verify

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
LONGEST = 15.0  # seconds from one kill to the next


def _kill_worker(cluster: Cluster, running: subprocess.Popen, rng: random.Random) -> None:
    nodes = [psutil.Process(raylet(node)) for node in (cluster.head_node, *cluster.worker_nodes)]
    titles = {process: " ".join(process.cmdline()) for node in nodes for process in node.children()}
    workers = [process for process, title in titles.items() if title.startswith("ray::") and "Agent" not in title]
    if workers:  # without its agents a node dies as a whole, and the head is not to
        rng.choice(workers).kill()


def _kill_driver(cluster: Cluster, running: subprocess.Popen, rng: random.Random) -> None:
    running.kill()


def _kill_node(cluster: Cluster, running: subprocess.Popen, rng: random.Random) -> None:
    cluster.remove_node(rng.choice(list(cluster.worker_nodes)), allow_graceful=False)
    cluster.add_node(**NODE)


KILLS = {_kill_worker: 6, _kill_driver: 3, _kill_node: 1}


@pytest.mark.soak
def test_random_kills_change_nothing(runs: Runs, cluster: Cluster, undisturbed: dict[str, str]) -> None:
    rng, out = random.Random(seed := int(time.time())), runs.folder / "a"
    done, resumed, killed, end = 0, 0, dict.fromkeys(KILLS, 0), time.monotonic() + 60 * MINUTES
    running, in_peace = runs.start("a"), False
    while time.monotonic() < end or running is not None:
        try:
            _, told = running.communicate(timeout=rng.uniform(0, LONGEST))
        except subprocess.TimeoutExpired:
            if time.monotonic() < end:  # and then the last run comes to its end in peace
                (kill,) = rng.choices(list(KILLS), KILLS.values())
                kill(cluster, running, rng)
                killed[kill] += 1
            continue
        if running.returncode == 0:
            assert results(out) == undisturbed, f"seed {seed}"
            assert verify(out) == []
            done += 1
            subprocess.run(["rm", "-r", str(out)], check=True)
        else:
            assert running.returncode in (-9, 4), told
            assert not in_peace, told
            resumed += 1
        in_peace = time.monotonic() > end
        running = runs.start("a") if running.returncode or time.monotonic() < end else None
    print(
        f"{done} runs, resumed {resumed} times, killed: "
        + ", ".join(f"{n} by {kill.__name__}" for kill, n in killed.items())
    )
    assert done
