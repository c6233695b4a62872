"""Processes and nodes that are killed, in every stage: the result is that of an undisturbed run."""

import signal

from conftest import NODE, Faults, Runs, raylet, until
from ray.cluster_utils import Cluster
from serial import results

from zydaflow.provenance.commits import Store
from zydaflow.provenance.verify import verify

# In the order in which a run commits them. `bands` is not in a finished run, `inputs` and so on are the driver's own.
BY_WORKERS = ["measure", "keys", "bands", "match", "cluster", "gather", "decide", "select", "train", "tokenize"]
BY_WORKERS += ["count", "evidence"]
STAGES = [
    "measure",
    "keep",
    "sketch",
    "judge",
    "inputs",
    "manifest",
    *BY_WORKERS[1:-1],
    "folder",
    "evidence",
    "account",
]


def test_a_worker_killed_in_each_stage(runs: Runs, faults: Faults, undisturbed: dict[str, str]) -> None:
    for stage in BY_WORKERS:
        faults.order(stage, "before", "worker")
    told = runs.finish("a")
    assert faults.done() == {f"{stage}.before" for stage in BY_WORKERS}
    assert all("1 retried" in line for line in told.splitlines() if line.split()[:1] in [[s] for s in BY_WORKERS])
    assert results(runs.folder / "a") == undisturbed
    assert verify(runs.folder / "a") == []


def test_a_driver_killed_at_a_commit_of_every_stage_and_resumed_on_more_and_on_fewer_nodes(
    runs: Runs, faults: Faults, cluster: Cluster, undisturbed: dict[str, str]
) -> None:
    extra = None
    for number, stage in enumerate(STAGES):
        faults.order(stage, "before" if number % 2 else "after", "driver")
        running = runs.start("a")
        _, told = running.communicate(timeout=120)
        assert running.returncode == -signal.SIGKILL, f"{stage}: {told}"
        if number == len(STAGES) // 3:
            extra = cluster.add_node(**NODE)
        if number == 2 * len(STAGES) // 3:
            cluster.remove_node(extra)
    runs.finish("a")
    assert len(faults.done()) == len(STAGES)
    assert results(runs.folder / "a") == undisturbed
    assert verify(runs.folder / "a") == []


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
    _, told = running.communicate(timeout=120)
    cluster.remove_node(added)
    assert running.returncode == 0, told
    assert results(runs.folder / "a") == undisturbed


def test_two_nodes_lost_in_mid_stage(runs: Runs, faults: Faults, cluster: Cluster, undisturbed: dict[str, str]) -> None:
    first, second = list(cluster.worker_nodes)
    faults.order("measure", "before", "node", raylet(first))
    faults.order("tokenize", "before", "node", raylet(second))
    hold = faults.order("tokenize", "before", "hold", raylet(cluster.head_node))  # until the other node has a unit
    running = runs.start("a")
    try:
        until(lambda: faults.done() == {"measure.before", "tokenize.before"}, "loss of two nodes")
        hold.unlink()
        _, told = running.communicate(timeout=120)
    finally:
        for node in (first, second):
            cluster.remove_node(node, allow_graceful=False)
            cluster.add_node(**NODE)
    assert running.returncode == 0, told
    assert results(runs.folder / "a") == undisturbed
    assert verify(runs.folder / "a") == []
