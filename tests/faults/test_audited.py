"""An audit on a cluster computes on another node than the one that is to be found out."""

import subprocess
from dataclasses import replace

from conftest import DEADLINE, Runs
from ray.cluster_utils import Cluster

from zydaflow.provenance.commits import Store


def test_an_audit_uses_other_nodes_and_names_both(runs: Runs, cluster: Cluster, environment: dict[str, str]) -> None:
    runs.finish("a")
    out = runs.folder / "a"
    store = Store(out)
    nodes = {node.node_id[:6] for node in (cluster.head_node, *cluster.worker_nodes)}
    by_workers = [record for record in store.records() if record.stage in ("measure", "tokenize", "decide")]
    assert {record.node.split(" ")[1] for record in by_workers} <= nodes
    wrong = next(store.records("tokenize"))
    data = bytearray(store.path(wrong.artefacts["shard"].path).read_bytes())
    data[len(data) // 2] ^= 1
    changed = store.write(wrong.artefacts["shard"].path, bytes(data))
    record = replace(wrong, artefacts={"shard": replace(changed, rows=wrong.artefacts["shard"].rows)})
    store.path(wrong.name).write_bytes(record.to_json())
    command = [*runs.command("a")[:3], "audit", str(out), "--sample", "100%", "--address", cluster.address]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 1, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:13]]
    assert [row[0] for row in rows if len({*row[1:]}) != 1] == []  # all audited, all on another node
    (found,) = [line for line in done.stdout.splitlines() if " made " in line]
    assert found.startswith(f"{changed.path}: tokenize {wrong.unit} made {changed.xxh3} on {wrong.node}, and makes")
    assert wrong.node not in found.split("and makes")[1]
