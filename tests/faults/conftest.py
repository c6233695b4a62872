"""One Ray cluster of three nodes for all tests of this folder, and a way to order faults in its processes."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from inputs import datasets, recipe
from ray.cluster_utils import Cluster
from serial import Serial, results

HOOKS = Path(__file__).parent / "hooks"
PACKAGE = HOOKS.parent.parent.parent
FUNCTIONS = HOOKS.parent.parent / "support" / "scorers.py"
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "memory": 2_000_000_000}
QUICK = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, "health_check_failure_threshold": 6}
DEADLINE = 120  # seconds, for anything that is waited for


def until(condition: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Waits for a condition; the test fails where it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.01)


class Faults:
    """Orders faults; see hooks/sitecustomize.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def order(self, stage: str, when: str, fault: str, *whom: int | str) -> Path:
        """At the next commit of the stage, before or after it; if any are named, of these units or by these raylets."""
        path = self.folder / f"{stage}.{when}.{fault}"
        path.write_text(" ".join(map(str, whom)))
        return path

    def done(self) -> set[str]:
        """The orders that were carried out, as stage.when."""
        return {path.stem for path in self.folder.glob("*.done")}

    def held(self) -> int:
        """How many processes wait for a `hold` to go."""
        return len(list(self.folder.glob("*.hold.*")))

    def clear(self) -> None:
        for path in self.folder.iterdir():
            path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def _orders(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    return Faults(tmp_path_factory.mktemp("orders"))


@pytest.fixture
def faults(_orders: Faults) -> Iterator[Faults]:
    """No order is left from one test to the next."""
    yield _orders
    _orders.clear()


@pytest.fixture(scope="session")
def environment(_orders: Faults) -> dict[str, str]:
    """Of processes that take orders."""
    path = os.pathsep.join([str(HOOKS), str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"ZYDAFLOW_FAULTS": str(_orders.folder), "PYTHONPATH": path}


@contextlib.contextmanager
def nodes(number: int, environment: dict[str, str]) -> Iterator[Cluster]:
    """A cluster of so many nodes with one core each, whose workers take orders."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ZYDAFLOW_FAULTS", "PYTHONPATH"):
            patch.setenv(name, environment[name])
        head = {**NODE, "include_dashboard": False, "_system_config": QUICK}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(1, number):
            cluster.add_node(**NODE)
        yield cluster
        cluster.shutdown()


@pytest.fixture(scope="package")
def cluster(environment: dict[str, str]) -> Iterator[Cluster]:
    """Three nodes."""
    with nodes(3, environment) as cluster:
        yield cluster


def raylet(node: object) -> int:
    """The process of a node's raylet."""
    return node.all_processes["raylet"][0].process.pid  # type: ignore[attr-defined]


class Runs:
    """Starts `zydaflow` on the cluster, on a recipe that needs every stage."""

    def __init__(self, folder: Path, cluster: Cluster, environment: dict[str, str], faults: Faults) -> None:
        self.folder, self._cluster, self._environment, self._faults = folder, cluster, environment, faults

    def recipe(self, name: str) -> Path:
        """Of the run of this name, whose output is a folder of that name, too."""
        return self.folder / f"{name}.yaml"

    def command(self, name: str, *options: str) -> list[str]:
        """That runs it."""
        command = [sys.executable, "-m", "zydaflow", "run", str(self.recipe(name))]
        return [*command, *(options or ("--address", self._cluster.address))]

    def start(self, name: str, *options: str) -> subprocess.Popen:
        """Begins the run; orders find its process."""
        pid = self._faults.folder / "driver.pid"
        pid.unlink(missing_ok=True)
        running = subprocess.Popen(
            self.command(name, *options), env=self._environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        pid.with_suffix(".new").write_text(str(running.pid))
        pid.with_suffix(".new").rename(pid)
        return running

    def finish(self, name: str, *options: str) -> str:
        """Runs it to its end, and returns what it said."""
        running = self.start(name, *options)
        _, told = running.communicate(timeout=DEADLINE)
        assert running.returncode == 0, told
        return told


@pytest.fixture(scope="package")
def _inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], dict[str, str]]:
    """The entries of a recipe, and what an undisturbed run of it gives."""
    folder = tmp_path_factory.mktemp("undisturbed")
    entries = datasets(folder / "inputs")
    with pytest.MonkeyPatch.context() as patch:
        return entries, results(Serial(patch).run(every_stage(entries, folder / "run")))


def every_stage(entries: list[dict], out: Path) -> dict:
    """A recipe that needs every stage there is."""
    dedup = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4, "verify": "exact", "exact": ["text"]}
    resources = {"shard_bytes": 8000, "memory_per_task": "200MB"}
    scorers = {"length": {"function": f"{FUNCTIONS}:length", "actors": 2, "memory": "200MB"}}
    return recipe(entries, out, dedup=dedup, resources=resources, scorers=scorers)


@pytest.fixture
def undisturbed(_inputs: tuple[list[dict], dict[str, str]]) -> dict[str, str]:
    """What every run of the recipe must give."""
    return _inputs[1]


@pytest.fixture
def runs(
    tmp_path: Path, cluster: Cluster, environment: dict[str, str], faults: Faults, _inputs: tuple[list[dict], object]
) -> Runs:
    """Recipes `a` and `b`, alike but for their output."""
    made = Runs(tmp_path, cluster, environment, faults)
    for name in ("a", "b"):
        made.recipe(name).write_text(yaml.safe_dump(every_stage(_inputs[0], tmp_path / name)))
    return made
