"""Who does the work: tasks in whatever workers Ray has, or a pool of actors that keep what they have loaded.

Both take calls of `work`, each for one core, and give a reference to what comes of it.
"""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from zydaflow.engine.work import work
from zydaflow.errors import RunError

STARTS = 4  # times that an actor may fail to start, one after the other


class Hands(Protocol):
    """What runs units. References in `starting` are those of hands that are not there yet."""

    starting: dict[Any, Any]

    def many(self) -> int:
        """About how many calls are at work at the same time."""

    def free(self, running: int) -> bool:
        """Whether another call can be taken, beside so many."""

    def call(self, *arguments: Any) -> Any:
        """Calls `work` with the arguments."""

    def ended(self, reference: Any) -> None:
        """Takes note of a call that has come to its end, or of one of `starting`. Raises RunError where none starts."""

    def check_room(self) -> None:
        """Raises RunError where no living node could ever take a call: it would wait, without end or a word."""

    def close(self, running: Iterable[Any]) -> None:
        """Ends the calls that are running, and what would not end by itself."""


@dataclass(frozen=True)
class Pool:
    """So many actors, each with one core, so much memory (bytes) and so many GPUs; `key` names them in the recipe."""

    key: str
    actors: int
    memory: int
    gpus: float


class Tasks:
    """Tasks, twice as many as there are cores."""

    def __init__(self, memory: int) -> None:
        import ray

        self.starting: dict[Any, Any] = {}
        self._memory = memory
        self._task = ray.remote(num_cpus=1, max_retries=0)(work).options(memory=memory, scheduling_strategy="SPREAD")

    def many(self) -> int:
        import ray

        return 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def free(self, running: int) -> bool:
        return running < self.many()

    def call(self, *arguments: Any) -> Any:
        return self._task.remote(*arguments)

    def ended(self, reference: Any) -> None:
        pass

    def check_room(self) -> None:
        _check_room("resources.memory_per_task", self._memory)

    def close(self, running: Iterable[Any]) -> None:
        import ray

        for reference in running:
            try:
                ray.cancel(reference, force=True)
            except Exception:
                traceback.print_exc()


class _Worker:
    def start(self) -> None:
        """Returns when it is there."""

    def work(self, *arguments: Any) -> Any:
        return work(*arguments)


class Actors:
    """A pool of actors. One that ends is replaced; one that has no room yet gets no work."""

    def __init__(self, pool: Pool, units: int) -> None:
        import ray

        self._pool, self._failed = pool, 0
        self._actor: Any = ray.remote(num_cpus=1, num_gpus=pool.gpus, max_restarts=0, max_task_retries=0)(
            _Worker
        ).options(memory=pool.memory, scheduling_strategy="SPREAD")
        self.starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._busy: dict[Any, Any] = {}
        for _ in range(min(pool.actors, units)):
            self._start()

    def _start(self) -> None:
        actor = self._actor.remote()
        self.starting[actor.start.remote()] = actor

    def many(self) -> int:
        return self._pool.actors

    def free(self, running: int) -> bool:
        return bool(self._idle)

    def call(self, *arguments: Any) -> Any:
        actor = self._idle.pop()
        reference = actor.work.remote(*arguments)
        self._busy[reference] = actor
        return reference

    def ended(self, reference: Any) -> None:
        import ray

        starting = reference in self.starting
        actor = self.starting.pop(reference) if starting else self._busy.pop(reference)
        try:
            ray.get(reference)
        except ray.exceptions.RayTaskError:  # of the work; the actor lives
            pass
        except ray.exceptions.RayError as error:
            ray.kill(actor)
            self._failed += starting
            if self._failed == STARTS:
                raise RunError(f"{self._pool.key}: no actor starts: {error}") from error
            self._start()
            return
        self._failed = 0
        self._idle.append(actor)

    def check_room(self) -> None:
        _check_room(f"{self._pool.key}.memory", self._pool.memory, self._pool.gpus, f"{self._pool.key}.gpus")

    def close(self, running: Iterable[Any]) -> None:
        import ray

        for actor in (*self._idle, *self._busy.values(), *self.starting.values()):
            ray.kill(actor)


def _check_room(memory_key: str, memory: int, gpus: float = 0, gpus_key: str = "") -> None:
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise RunError("no node of the Ray cluster has a core for tasks; start one with `ray start --num-cpus=N`")
    with_gpus = [node for node in nodes if node.get("GPU", 0) >= gpus]
    if not with_gpus:
        most = max(node.get("GPU", 0) for node in nodes)
        raise RunError(f"{gpus_key}: {gpus:g} is more than any node has for Ray ({most:g}); lower it")
    largest = max(node.get("memory", 0) for node in with_gpus)
    if memory > largest:
        raise RunError(
            f"{memory_key}: {memory / 1e9:.2f} GB is more than any node has for Ray "
            f"({largest / 1e9:.2f} GB); lower it, or give Ray more (`ray start --memory=BYTES`)"
        )
