"""Units in a pool of actors, on a real Ray of two cores."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from zydaflow.engine import Pool, run_units, session
from zydaflow.engine.run import TRIES
from zydaflow.errors import RunError
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

MEMORY = 100_000_000


@pytest.fixture(scope="module", autouse=True)
def _ray() -> Iterator[None]:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
    with session("local", workers=2):
        yield


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def _note(store: Store, name: str, text: object) -> list[str]:
    """Notes something, across processes; returns what was noted before."""
    path = Path(str(store.root), name)
    before = path.read_text().split() if path.exists() else []
    with path.open("a") as file:
        file.write(f"{text}\n")
    return before


def tell(store: Store) -> Done:
    """Notes the process, and with which units before it this process has been at work."""
    _note(store, "processes", os.getpid())
    return Done(1, 10)


def dying(store: Store, failures: int, trouble: Trouble = NONE) -> Done:
    if len(_note(store, "tries", trouble.kills)) < failures:
        os._exit(1)
    return Done(1, 10)


def wrong(store: Store) -> Done:
    _note(store, "processes", os.getpid())
    raise ValueError("a fault in the code")


def stopping(store: Store) -> Done:
    _note(store, "processes", os.getpid())
    raise DamagedArtefact("work/x.arrow", "is missing")


def endless(store: Store) -> Done:
    _note(store, "processes", os.getpid())
    signal.pause()
    return Done(1, 10)


def _pool(actors: int, memory: int = MEMORY, gpus: float = 0) -> Pool:
    return Pool("scorers.x", actors, memory, gpus)


def _units(count: int, function, *arguments: object) -> list[Unit]:
    return [Unit(f"{function.__name__}-{k}", function, arguments, 10**8, careful=True) for k in range(count)]


@pytest.mark.parametrize("actors", [1, 2, 5])
def test_no_more_processes_than_actors_and_each_goes_on_from_unit_to_unit(store: Store, actors: int) -> None:
    """Five find no room on two cores: those that are there do all the work."""
    assert run_units(store, "stage", _units(12, tell), 1, pool=_pool(actors)).units == 12
    noted = (store.root / "processes").read_text().split()
    assert len(noted) == 12
    assert len(set(noted)) <= min(actors, 2)


def test_an_actor_that_dies_is_replaced_and_its_unit_is_told(store: Store) -> None:
    assert run_units(store, "stage", [*_units(1, dying, 2), *_units(3, tell)], 1, pool=_pool(1)).units == 4
    assert (store.root / "tries").read_text().split() == ["0", "1", "2"]
    assert len(set((store.root / "processes").read_text().split())) <= 3


def test_a_unit_that_always_kills_its_actor_fails_within_bounded_tries(store: Store) -> None:
    with pytest.raises(RunError, match="dying-0: ActorDiedError"):
        run_units(store, "stage", [*_units(1, dying, 99), *_units(2, tell)], 1, pool=_pool(2))
    assert len((store.root / "tries").read_text().split()) == TRIES
    assert len((store.root / "processes").read_text().split()) == 2


def test_an_actor_outlives_an_error_of_its_unit(store: Store) -> None:
    with pytest.raises(RunError, match="wrong-0: ValueError: a fault in the code"):
        run_units(store, "stage", [*_units(1, wrong), *_units(2, tell)], 1, pool=_pool(1))
    assert len(set((store.root / "processes").read_text().split())) == 1


def test_a_pool_that_no_node_has_room_for_is_refused(store: Store) -> None:
    with pytest.raises(RunError, match=r"scorers.x.memory: 1000.00 GB is more than any node has"):
        run_units(store, "stage", _units(1, tell), 1, pool=_pool(1, memory=10**12))
    with pytest.raises(RunError, match=r"scorers.x.gpus: 1 is more than any node has for Ray \(0\)"):
        run_units(store, "stage", _units(1, tell), 1, pool=_pool(1, gpus=1))
    assert not (store.root / "processes").exists()


def test_what_stops_a_stage_ends_its_actors(store: Store) -> None:
    with pytest.raises(DamagedArtefact):
        run_units(store, "stage", [*_units(1, endless), *_units(1, stopping)], 1, pool=_pool(2))
    assert ray.get(ray.remote(num_cpus=2)(lambda: 7).remote(), timeout=60) == 7


def test_nothing_is_left_of_a_pool(store: Store) -> None:
    """A task that needs both cores finds them."""
    run_units(store, "stage", _units(2, tell), 1, pool=_pool(2))
    assert ray.get(ray.remote(num_cpus=2)(lambda: 7).remote(), timeout=60) == 7
