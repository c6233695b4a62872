"""Calls of a function, each on a node that is chosen for it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zydaflow.engine.node import name_this_node
from zydaflow.engine.session import named, workers

LOST = 3  # times that a call is made anew when its worker or node is lost


def run_apart(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], avoided: Sequence[str], memory: int
) -> Iterator[tuple[int, Any]]:
    """What `function(*call)` gives, with the number of the call, in the order in which they get done, on one core each.

    A call runs on another node than the one avoided (by name, as `session.named`), on another host if there is one, and
    on the same where there is no other. One that fails gives its exception.
    """
    import ray

    task = ray.remote(num_cpus=1, max_retries=LOST, memory=memory)(_named)
    nodes, load = workers(), Counter[str]()
    waiting = list(enumerate(zip(calls, avoided, strict=True)))
    running: dict[Any, int] = {}
    while waiting or running:
        while waiting and len(running) < 2 * len(nodes) * int(max(node["Resources"]["CPU"] for node in nodes)):
            number, (call, avoid) = waiting.pop()
            node = min(
                nodes, key=lambda node: (_likeness(node, avoid), load[node["NodeID"]] / node["Resources"]["CPU"])
            )
            load[node["NodeID"]] += 1
            running[task.options(scheduling_strategy=_on(node)).remote(function, call)] = number
        (ready,), _ = ray.wait(list(running))
        try:
            result = ray.get(ready)
        except ray.exceptions.RayError as error:
            result = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
        yield running.pop(ready), result


def _named(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    name_this_node()
    return function(*call)


def _likeness(node: dict[str, Any], name: str) -> int:
    """0 for another host, 1 for another node of the same, 2 for the node itself."""
    return 2 if named(node) == name else int(node["NodeManagerHostname"] == name.split(" ")[0])


def _on(node: dict[str, Any]) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)  # elsewhere, if it is gone by then
