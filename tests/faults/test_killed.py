"""Processes and nodes that are killed, in every stage: the result is that of an undisturbed run."""

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import DEADLINE, NODE, Faults, Runs, nodes, raylet, until
from ray.cluster_utils import Cluster
from serial import results

from zydaflow.provenance.commits import Store
from zydaflow.provenance.verify import verify

# In the order in which a run commits them. `bands` is not in a finished run, `inputs` and so on are the driver's own.
BY_WORKERS = [
    "score",
    "measure",
    "keys",
    "bands",
    "match",
    "cluster",
    "gather",
    "decide",
    "select",
    "train",
    "tokenize",
]
BY_WORKERS += ["count", "evidence"]
IN_ONE_PASS = ["keep", "sketch", "judge"]  # after `measure`
STAGES = ["score", "measure", *IN_ONE_PASS, "inputs", "manifest", *BY_WORKERS[2:-1], "folder", "evidence", "account"]


def test_a_worker_killed_in_each_stage(runs: Runs, faults: Faults, undisturbed: dict[str, str]) -> None:
    for stage in BY_WORKERS:
        faults.order(stage, "before", "worker")
    told = runs.finish("a")
    assert faults.done() == {f"{stage}.before" for stage in BY_WORKERS}
    stages = [["scorer.length"], *([stage] for stage in BY_WORKERS)]
    assert all("1 retried" in line for line in told.splitlines() if line.split()[:1] in stages)
    assert results(runs.folder / "a") == undisturbed
    assert verify(runs.folder / "a") == []


def _kill_in_each(stages: list[str], runs: Runs, faults: Faults, name: str, when: str) -> None:
    """The driver of one run, which goes on each time until the next of the stages."""
    for stage in stages:
        faults.order(stage, when, "driver")
        _, told = (running := runs.start(name)).communicate(timeout=DEADLINE)
        assert running.returncode == -signal.SIGKILL, f"{stage}: {told}"
        assert f"{stage}.{when}" in faults.done()


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.soak)], ids=["one-of-two", "every"])
def test_a_driver_killed_at_the_commit_boundaries_of_every_stage_and_resumed_on_more_nodes(
    runs: Runs, environment: dict[str, str], undisturbed: dict[str, str], tmp_path: Path, step: int
) -> None:
    """Two runs at a time, each with its own cluster of one node, on which a driver starts in a third of the time.

    One of them is killed before the commits of stages, the other after them; of each second stage each, unless there is
    time for all. The boundary before a stage that shares its pass is that after the one before it.
    """
    boundaries = {
        "before": [stage for stage in STAGES[::step] if stage not in IN_ONE_PASS],
        "after": STAGES[step - 1 :: step],
    }
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(2) as both:
        killed = []
        for name, (when, stages) in zip("ab", boundaries.items(), strict=True):
            (orders := tmp_path / when).mkdir()
            here = environment | {"ZYDAFLOW_FAULTS": str(orders)}
            faults = Faults(orders)
            alone = Runs(tmp_path, stack.enter_context(nodes(1, here)), here, faults)
            killed.append(both.submit(_kill_in_each, stages, alone, faults, name, when))
        for chain in killed:
            chain.result()
    for name in "ab":
        runs.finish(name)
        assert results(runs.folder / name) == undisturbed
        assert verify(runs.folder / name) == []


def test_a_node_added_in_mid_stage_gets_work(
    runs: Runs, faults: Faults, cluster: Cluster, undisturbed: dict[str, str]
) -> None:
    there = [raylet(node) for node in (cluster.head_node, *cluster.worker_nodes)]
    hold = faults.order("judge", "before", "hold", *there)
    running = runs.start("a")
    until(lambda: faults.held() == len(there), "worker of each node in mid-stage")
    added = cluster.add_node(**NODE)
    store, name = Store(runs.folder / "a"), added.node_id[:6]
    until(lambda: any(record.node.endswith(name) for record in store.records("judge")), "work of the new node")
    hold.unlink()
    _, told = running.communicate(timeout=DEADLINE)
    cluster.remove_node(added)
    assert running.returncode == 0, told
    assert results(runs.folder / "a") == undisturbed


def test_a_node_added_in_mid_stage_that_differs_gets_no_work(
    runs: Runs,
    faults: Faults,
    cluster: Cluster,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    older = tmp_path / "packages" / "xxhash-1.0.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: xxhash\nVersion: 1.0\n")
    path = os.pathsep.join([str(older.parent), environment["PYTHONPATH"]])
    there = [raylet(node) for node in (cluster.head_node, *cluster.worker_nodes)]
    faults.order("judge", "before", "hold", *there)
    running = runs.start("a")
    until(lambda: faults.held() == len(there), "worker of each node in mid-stage")
    added = cluster.add_node(**NODE, env_vars={"PYTHONPATH": path})
    _, told = running.communicate(timeout=DEADLINE)
    cluster.remove_node(added)
    assert running.returncode == 4, told
    (refused,) = [line for line in told.splitlines() if "are not alike" in line]
    assert refused.endswith(f"{added.node_id[:6]} was given no work:")
    (row,) = [line.split() for line in told.splitlines() if line.startswith("xxhash ")]
    assert row[2] == "1.0" != row[1]
    assert not any(record.node.endswith(added.node_id[:6]) for record in Store(runs.folder / "a").records())


def test_two_nodes_lost_in_mid_stage(runs: Runs, faults: Faults, cluster: Cluster, undisturbed: dict[str, str]) -> None:
    first, second = list(cluster.worker_nodes)
    faults.order("measure", "before", "node", raylet(first))
    faults.order("tokenize", "before", "node", raylet(second))
    hold = faults.order("tokenize", "before", "hold", raylet(cluster.head_node))  # until the other node has a unit
    running = runs.start("a")
    try:
        until(lambda: faults.done() == {"measure.before", "tokenize.before"}, "loss of two nodes")
        hold.unlink()
        _, told = running.communicate(timeout=DEADLINE)
    finally:
        for node in (first, second):
            cluster.remove_node(node, allow_graceful=False)
            cluster.add_node(**NODE)
    assert running.returncode == 0, told
    assert results(runs.folder / "a") == undisturbed
    assert verify(runs.folder / "a") == []
