"""A run on a Ray cluster of two nodes (two real raylets) that was there before and stays."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
import yaml
from inputs import datasets, recipe
from ray.cluster_utils import Cluster
from serial import Serial, results


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    one_core = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**one_core, "include_dashboard": False})
    cluster.add_node(**one_core)
    yield cluster
    cluster.shutdown()


def test_two_nodes_give_what_one_process_gives_and_stay(cluster: Cluster, serial: Serial, tmp_path: Path) -> None:
    entries = datasets(tmp_path / "inputs")
    small = {"resources": {"shard_bytes": 2000, "memory_per_task": "200MB"}}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe(entries, tmp_path / "cluster", **small)))
    command = [sys.executable, "-m", "zydaflow", "run", str(tmp_path / "recipe.yaml"), "--address", cluster.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "cluster") == results(serial.run(recipe(entries, tmp_path / "serial", **small)))
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    ray.shutdown()
    assert len(alive) == 2
