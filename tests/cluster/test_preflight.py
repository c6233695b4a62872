"""Nodes that differ, on a real Ray cluster: nothing is begun, and a table says who has what."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from inputs import datasets, recipe
from ray.cluster_utils import Cluster

from zydaflow.engine.preflight import Machine, advice, look, table

GB = 10**9
HUB_NAME = "someone/tokens"
COMMITS = {"one": "1" * 40, "other": "2" * 40}


def _hub_cache(home: Path, commit: str, definition: str) -> None:
    """What the hub's client finds of a tokenizer, as one commit, without asking the hub."""
    repository = home / "hub" / f"models--{HUB_NAME.replace('/', '--')}"
    (repository / "snapshots" / commit).mkdir(parents=True)
    (repository / "snapshots" / commit / "tokenizer.json").write_text(definition)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two caches with different commits of one tokenizer, another version of a package, and a broken zydaflow."""
    import tokenizers

    folder = tmp_path_factory.mktemp("nodes")
    for name, commit in COMMITS.items():
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[SEP]": 1, name: 2}, unk_token="a"))
        _hub_cache(folder / name, commit, tokenizer.to_str())
    older = folder / "packages" / "xxhash-1.0.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: xxhash\nVersion: 1.0\n")
    (folder / "broken" / "zydaflow").mkdir(parents=True)
    (folder / "broken" / "zydaflow" / "__init__.py").write_text("raise ImportError('half installed')")
    return folder


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Cluster]:
    """The second node finds another tokenizer under the hub's name, the others what `folder` has besides."""
    one_core = {"num_cpus": 1, "object_store_memory": 80_000_000}
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HF_HUB_OFFLINE", "1")
        environment.setenv("HF_HOME", str(folder / "one"))
        cluster = Cluster(initialize_head=True, head_node_args={**one_core, "include_dashboard": False})
        cluster.add_node(**one_core, env_vars={"HF_HOME": str(folder / "other")})
        for first in ("packages", "broken"):
            path = f"{folder / first}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
            cluster.add_node(**one_core, env_vars={"PYTHONPATH": path})
        yield cluster
        cluster.shutdown()


def _run(folder: Path, address: str, tokenizer: str | None) -> subprocess.CompletedProcess[str]:
    entries = datasets(folder / "inputs")
    small = {"resources": {"shard_bytes": "1MB", "memory_per_task": "200MB"}, "tokenizer": tokenizer}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe(entries, folder / "out", **small)))
    command = [sys.executable, "-m", "zydaflow", "run", str(folder / "recipe.yaml"), "--address", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=150, check=False, cwd=folder)


def test_nodes_that_differ_are_refused_with_a_table(cluster: Cluster, tmp_path: Path) -> None:
    done = _run(tmp_path, cluster.address, HUB_NAME)
    assert done.returncode == 4, done.stderr
    lines = [line.partition("  ") for line in done.stderr.splitlines()]
    rows = {name: cells.split() for name, _, cells in lines}
    assert rows["xxhash"].count("1.0") == 1
    assert len(set(rows["xxhash"])) == 2
    assert len(set(rows[f"{HUB_NAME}, tokenizer.json"])) == 2
    assert rows["answers"][0] == "no:"
    assert "half installed" in done.stderr
    assert "numpy" not in rows  # what is alike is left out
    assert "driver on" in done.stderr
    assert " and 1 more" in done.stderr  # the first node, which answers like the driver
    assert not list((tmp_path / "out").glob("commits/*"))


def test_a_machine_tells_its_memory(tmp_path: Path) -> None:
    machine = look(lambda: {"a": "1"}, str(tmp_path))
    assert machine.facts == {"a": "1"}
    assert machine.memory > 10**8
    assert machine.disk > 0


def test_the_table_shows_the_least_of_those_that_are_alike() -> None:
    shown = table({
        "driver": Machine({"a": "1", "b": "1"}, 8 * GB, GB, 5 * GB),
        "n1": Machine({"a": "1", "b": "1"}, 2 * GB, GB, 5 * GB),
        "n2": Machine({"a": "1", "b": "2"}, 8 * GB, GB, 5 * GB),
    })  # fmt: skip
    assert shown.splitlines()[1].split() == ["b", "1", "2"]
    assert shown.splitlines()[2].split() == ["memory", "2.0", "GB", "8.0", "GB"]
    assert "driver and 1 more" in shown


@pytest.mark.parametrize(
    ("machine", "ray", "said"),
    [
        (Machine({}, 8 * GB, GB), {"memory": 4 * GB, "object_store_memory": GB / 2}, []),
        (Machine({}, 8 * GB, GB), {"memory": 1 * GB}, ["gets no work"]),
        (Machine({}, 3 * GB, GB), {"memory": 4 * GB}, ["`ray start --memory=2100000000`"]),
        (Machine({}, 8 * GB, 64_000_000), {"memory": 4 * GB, "object_store_memory": 8e7}, ["/dev/shm has 64.0 MB"]),
    ],
)
def test_advice_where_memory_is_short(machine: Machine, ray: dict[str, float], said: list[str]) -> None:
    lines = list(advice(machine, ray, 2 * GB))
    assert len(lines) == len(said)
    assert all(words in line for words, line in zip(said, lines, strict=True))
