"""Who does the work of a stage: what tasks and pools have in common."""

from collections.abc import Iterable
from typing import Any, Protocol

from zydaflow.errors import RunError


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


def check_room(memory_key: str, memory: int, gpus: float = 0, gpus_key: str = "") -> None:
    """Raises RunError where no living node has a core, so many GPUs, and so much memory (bytes); the keys say whose."""
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
