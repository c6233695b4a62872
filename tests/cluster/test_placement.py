"""Where units are done: on all nodes, though one alone would have the cores for them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from zydaflow.engine import run_units, session
from zydaflow.provenance.commits import Store
from zydaflow.stages.unit import Done, Unit

NODES = 3


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    node = {"num_cpus": 6, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    for _ in range(NODES - 1):
        cluster.add_node(**node)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
    with session(cluster.address):
        yield cluster
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    cluster.shutdown()


def where(store: Store, name: str) -> Done:
    store.path(name).write_text(ray.get_runtime_context().get_node_id())
    return Done(1, 1)


def test_few_units_are_spread_over_the_nodes(cluster: Cluster, tmp_path: Path) -> None:
    units = [Unit(f"u{number}", where, (f"u{number}",), 1) for number in range(2 * NODES)]
    run_units(Store(tmp_path), "stage", units, 10_000_000)
    nodes = [path.read_text() for path in tmp_path.glob("u*")]
    assert sorted(nodes.count(node) for node in set(nodes)) == [2] * NODES
