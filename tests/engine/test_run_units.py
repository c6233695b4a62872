"""What the engine does with units that fail, on a real Ray."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import ray

from zydaflow.engine import explained, run_units, session
from zydaflow.engine.failures import FILE
from zydaflow.engine.run import TRIES
from zydaflow.errors import InputError, RecipeError, RunError
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


def _try(store: Store, name: str) -> int:
    """Counts the tries of a unit, across processes; returns how many there were before."""
    with open(store.path(f"{name}.tries"), "ab") as file:
        file.write(b"x")
        return file.tell() - 1


def _tries(store: Store, name: str) -> int:
    return store.path(f"{name}.tries").stat().st_size


def fine(store: Store, name: str) -> Done:
    _try(store, name)
    return Done(2, 1000)


def passing(store: Store, name: str, failures: int) -> Done:
    if _try(store, name) < failures:
        raise TimeoutError("storage did not answer")
    return Done(1, 10)


def dying(store: Store, name: str, failures: int) -> Done:
    if _try(store, name) < failures:
        os._exit(137)
    return Done(1, 10)


def wrong(store: Store, name: str) -> Done:
    _try(store, name)
    raise ValueError("a fault in the code")


def bad_input(store: Store, name: str) -> Done:
    raise InputError("file.jsonl.gz: cut short at 100")


def bad_recipe(store: Store, name: str) -> Done:
    raise RecipeError("scorers.q: the function gave 1 numbers for 60 texts")


def full(store: Store, name: str) -> Done:
    _try(store, name)
    raise OSError(errno.ENOSPC, "No space left on device")


def damaged(store: Store, name: str) -> Done:
    raise DamagedArtefact("work/x.arrow", "is missing")


def careful(store: Store, name: str, failures: list[str], trouble: Trouble = NONE) -> Done:
    """Fails in these ways, one after the other, and notes what it is told each time."""
    tries = _try(store, name)
    with store.path(f"{name}.told").open("a") as file:
        file.write(f"{trouble.kills} {trouble.suspect}\n")
    if tries < len(failures):
        if failures[tries] == "end":
            os._exit(1)
        raise {"memory": MemoryError, "fault": ValueError, "input": InputError}[failures[tries]](f"failure {tries}")
    return Done(1, 10)


def _units(function, count: int, *arguments) -> list[Unit]:
    return [
        Unit(f"{function.__name__}-{k}", function, (f"{function.__name__}-{k}", *arguments), 1000) for k in range(count)
    ]


def test_every_unit_is_done_once_and_counted(store: Store) -> None:
    timing = run_units(store, "stage", _units(fine, 9), MEMORY)
    assert (timing.units, timing.documents, timing.bytes) == (9, 18, 9000)
    assert [_tries(store, f"fine-{k}") for k in range(9)] == [1] * 9
    progress = orjson.loads(store.path("progress.json").read_bytes())
    assert (progress["state"], progress["done"], progress["units"]) == ("done", 9, 9)


def test_one_that_fails_among_small_units_that_share_a_task_is_done_by_itself(store: Store) -> None:
    with pytest.raises(RunError, match="1 of the units failed") as raised:
        run_units(store, "stage", [*_units(wrong, 1), *_units(fine, 60)], MEMORY)
    assert "wrong-0: ValueError: a fault in the code" in str(raised.value)
    assert _tries(store, "wrong-0") == 2
    assert [_tries(store, f"fine-{k}") for k in range(60)] == [1] * 60


def test_what_shared_a_task_with_one_that_kills_the_worker_is_done_again_by_itself(store: Store) -> None:
    timing = run_units(store, "stage", [*_units(fine, 2), *_units(dying, 1, 2), *_units(fine, 60)[2:]], MEMORY)
    assert (timing.units, timing.documents) == (61, 121)
    assert _tries(store, "dying-0") == 3
    assert [_tries(store, f"fine-{k}") for k in (0, 1, 59)] == [2, 2, 1]


def test_storage_that_times_out_twice_is_tried_again(store: Store) -> None:
    assert run_units(store, "stage", _units(passing, 2, 2), MEMORY).units == 2
    assert _tries(store, "passing-0") == 3


def test_a_worker_that_dies_is_replaced(store: Store) -> None:
    assert run_units(store, "stage", _units(dying, 2, 1), MEMORY).units == 2
    assert _tries(store, "dying-1") == 2


def test_a_unit_that_always_kills_its_worker_fails_within_bounded_tries_and_is_named(store: Store) -> None:
    with pytest.raises(RunError, match="dying-0"):
        run_units(store, "stage", [*_units(dying, 1, 99), *_units(fine, 3)], MEMORY)
    assert _tries(store, "dying-0") == TRIES
    assert [_tries(store, f"fine-{k}") for k in range(3)] == [1] * 3


@pytest.mark.parametrize(
    ("failures", "told"),
    [
        (["memory", "memory"], ["0 False", "1 False", "2 False"]),
        (["end"], ["0 False", "1 True"]),
        (["fault"], ["0 False", "0 True"]),
        (["end", "memory", "end"], ["0 False", "1 True", "2 True", "3 True"]),
    ],
)
def test_a_careful_unit_is_told_what_befell_it(store: Store, failures: list[str], told: list[str]) -> None:
    run_units(store, "stage", [Unit("c", careful, ("c", failures), 10, careful=True)], MEMORY)
    assert store.path("c.told").read_text().splitlines() == told


@pytest.mark.parametrize(
    ("failures", "tries", "error"),
    [
        (["memory"] * 9, TRIES, "c: MemoryError: failure 3"),
        (["end"] * 9, TRIES, "c: WorkerCrashedError"),
        (["fault", "fault"], 2, "c: ValueError: failure 0"),  # the first is the real one
        (["input"], 1, "c: InputError: failure 0"),
    ],
)
def test_care_is_bounded(store: Store, failures: list[str], tries: int, error: str) -> None:
    with pytest.raises((RunError, InputError), match=error):
        run_units(store, "stage", [Unit("c", careful, ("c", failures), 10, careful=True)], MEMORY)
    assert _tries(store, "c") == tries


def test_a_fault_is_not_tried_again_and_shows_its_traceback_while_the_others_finish(store: Store) -> None:
    with pytest.raises(RunError) as error:
        run_units(store, "stage", [*_units(wrong, 1), *_units(fine, 3)], MEMORY)
    assert "wrong-0: ValueError: a fault in the code" in str(error.value)
    assert 'raise ValueError("a fault in the code")' in str(error.value)
    assert _tries(store, "wrong-0") == 1
    assert [_tries(store, f"fine-{k}") for k in range(3)] == [1] * 3
    told = orjson.loads(store.path(FILE).read_bytes())
    assert [failure["unit"] for failure in told["failures"]] == ["wrong-0"]
    assert (told["stage"], told["resume"]) == ("stage", "the same call")


def test_inputs_that_are_at_fault_are_an_input_error(store: Store) -> None:
    with pytest.raises(InputError, match=r"file\.jsonl\.gz: cut short at 100"):
        run_units(store, "stage", [*_units(bad_input, 2), *_units(fine, 1)], MEMORY)


def test_a_recipe_that_is_at_fault_is_a_recipe_error(store: Store) -> None:
    with pytest.raises(RecipeError, match=r"the function gave 1 numbers for 60 texts"):
        run_units(store, "stage", [*_units(bad_recipe, 2), *_units(fine, 1)], MEMORY)


def test_a_full_disk_stops_at_once_and_is_told_as_one(store: Store) -> None:
    with pytest.raises(RunError, match="OUT: the disk is full"), explained("OUT"):
        run_units(store, "stage", _units(full, 1), MEMORY)
    assert _tries(store, "full-0") == 1


def test_a_cluster_that_can_take_no_task_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    head = {"Alive": True, "Resources": {"memory": 4e9}}
    worker = {"Alive": True, "Resources": {"CPU": 2.0, "memory": 1e9}}
    monkeypatch.setattr(ray, "nodes", lambda: [head])
    with pytest.raises(RunError, match="no node of the Ray cluster has a core"):
        run_units(store, "stage", _units(fine, 1), MEMORY)
    monkeypatch.setattr(ray, "nodes", lambda: [head, worker])
    with pytest.raises(RunError, match=r"2\.00 GB is more than any node has for Ray \(1\.00 GB\)"):
        run_units(store, "stage", _units(fine, 1), 2_000_000_000)


def test_a_damaged_artefact_is_told_to_the_pipeline(store: Store) -> None:
    with pytest.raises(DamagedArtefact, match=r"work/x\.arrow: is missing"):
        run_units(store, "stage", _units(damaged, 1), MEMORY)


def test_memory_that_no_node_has_is_refused_instead_of_waited_for(store: Store) -> None:
    with pytest.raises(RunError, match=r"resources\.memory_per_task: 9999\.00 GB is more than any node has"):
        run_units(store, "stage", _units(fine, 1), 9_999_000_000_000)


def test_a_session_in_a_session_leaves_the_outer_one_running(store: Store) -> None:
    with session("local"):
        pass
    assert ray.is_initialized()


def test_workers_have_one_thread_for_everything(store: Store) -> None:
    @ray.remote
    def environment() -> str | None:
        return os.environ.get("RAYON_NUM_THREADS")

    assert ray.get(environment.remote()) == "1"


def test_addresses_that_cannot_be(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(RecipeError, match="is none of local, auto, HOST:PORT"), session("nowhere"):
        pass
    with pytest.raises(RecipeError, match="workers: 0 is no number of cores"), session("local", workers=0):
        pass
    with pytest.raises(RunError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"), session("127.0.0.1:1"):
        pass
