"""A pool: units in actors, which keep what they have loaded from one to the next."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zydaflow.engine.hands import check_room
from zydaflow.engine.work import work
from zydaflow.errors import RunError

STARTS = 4  # times that an actor may fail to start, one after the other


@dataclass(frozen=True)
class Pool:
    """So many actors, each with one core, so much memory (bytes) and so many GPUs; `key` names them in the recipe."""

    key: str
    actors: int
    memory: int
    gpus: float


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
        """Takes note that a start or a call is over; raises RunError where no actor starts."""
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
        check_room(f"{self._pool.key}.memory", self._pool.memory, self._pool.gpus, f"{self._pool.key}.gpus")

    def close(self, running: Iterable[Any]) -> None:
        import ray

        for actor in (*self._idle, *self._busy.values(), *self.starting.values()):
            ray.kill(actor)
