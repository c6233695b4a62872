"""Tasks: units in whatever workers Ray has."""

import traceback
from collections.abc import Iterable
from typing import Any

from zydaflow.engine.hands import check_room
from zydaflow.engine.work import work


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
        check_room("resources.memory_per_task", self._memory)

    def close(self, running: Iterable[Any]) -> None:
        import ray

        for reference in running:
            try:
                ray.cancel(reference, force=True)
            except Exception:
                traceback.print_exc()
