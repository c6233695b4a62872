"""Preflight: every machine answers the same questions before any work; where the answers differ, nothing is begun."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from zydaflow.engine.session import OBJECT_STORE_BYTES, ask, named, workers
from zydaflow.errors import RunError
from zydaflow.provenance.numbers import megabytes
from zydaflow.say import warn
from zydaflow.storage import on_this_machine, path_of, room

Facts = dict[str, str]
"""What must be the same on every machine, by name."""

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # version 2, version 1
_NO_ANSWER = "answers"
_SIZES = ("memory", "/dev/shm", "free for the output")  # of a Machine, after its facts


class Machine(NamedTuple):
    """What a machine says of itself: facts, and bytes of memory, of shared memory, and free where the output lies."""

    facts: Facts
    memory: int = 0
    shared_memory: int = 0
    disk: int = 0


def look(facts: Callable[[], Facts], folder: str) -> Machine:
    """What this machine answers; `folder` is the output folder."""
    shared = "/dev/shm"
    return Machine(
        facts(),
        _memory(),
        shutil.disk_usage(shared).total if os.path.isdir(shared) else 0,
        room(on_this_machine(path_of(folder))),
    )


def _memory() -> int:
    """Of the machine, or what its control group allows."""
    limits = [Path(path).read_text().strip() for path in _CGROUP_LIMITS if os.path.exists(path)]
    return min([psutil.virtual_memory().total, *(int(limit) for limit in limits if limit.isdigit())])


class Nodes:
    """The nodes that may work: those that gave the same answers as the driver.

    `facts` goes to the nodes by its name; `folder` is the output folder, and `memory` what a task is given.
    """

    def __init__(self, facts: Callable[[], Facts], folder: str, memory: int) -> None:
        self._facts, self._folder, self._memory = facts, folder, memory
        self.names: set[str] = set()

    def ask(self, nodes: Sequence[dict[str, Any]]) -> None:
        """Asks the driver and these nodes, says in a line that they are alike, and gives advice where memory is short.

        Raises RunError with a table where facts differ or a node cannot answer.
        """
        driver = look(self._facts, self._folder)
        machines = _answers(ask(nodes, look, self._facts, self._folder))
        everyone = {f"driver on {socket.gethostname()}": driver} | machines
        if any(machine.facts != driver.facts for machine in machines.values()):
            undone = f"{', '.join(machines)} was given no work" if self.names else "nothing was begun"
            raise RunError(
                f"the machines of this cluster are not alike, so {undone}:\n{table(everyone)}\n"
                "Make them alike, then run the same command again"
            )
        if machines:
            warn(_alike(driver.facts, machines))
        for node in nodes:
            for line in advice(machines[named(node)], node["Resources"], self._memory):
                warn(f"warning: {named(node)}: {line}")
        self.names |= machines.keys()

    def admit(self, name: str) -> None:
        """Asks a node that came later, before its first work; one that is gone again is not asked."""
        self.ask([node for node in workers() if named(node) == name])


def preflight(facts: Callable[[], Facts], folder: str, memory: int) -> Nodes:
    """Asks every node. Takes what `Nodes` does, and raises what `ask` does."""
    nodes = Nodes(facts, folder, memory)
    nodes.ask(workers())
    return nodes


def _answers(asked: dict[str, Any]) -> dict[str, Machine]:
    import ray

    answers = {}
    for node, answer in asked.items():
        try:
            answers[node] = ray.get(answer)
        except ray.exceptions.RayError as error:
            answers[node] = Machine({_NO_ANSWER: f"no: {str(error).strip().splitlines()[-1]}"})
    return answers


def _alike(facts: Facts, machines: dict[str, Machine]) -> str:
    count = f"{len(machines)} node{'s' if len(machines) > 1 else ''}"
    least = [megabytes(min(sizes)) for sizes in zip(*(machine[1:] for machine in machines.values()), strict=True)]
    return (
        f"{count}, alike in {len(facts)} versions and files; at least {least[0]} of memory, {least[1]} of /dev/shm, "
        f"{least[2]} free for the output"
    )


def table(machines: dict[str, Machine]) -> str:
    """The facts in which those that answered differ, line by line; machines that are alike share a column."""
    names = dict.fromkeys(name for machine in machines.values() for name in machine.facts)
    told = {name: [machine.facts.get(name, "") for machine in machines.values()] for name in names}
    differing = [name for name in names if name == _NO_ANSWER or len(set(filter(None, told[name]))) > 1]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, machine in machines.items():
        groups.setdefault(tuple(machine.facts.get(fact, "") for fact in differing), []).append(name)
    columns = [["", *differing, *_SIZES]]
    for answers, members in groups.items():
        least = zip(*(machines[name][1:] for name in members), strict=True)
        others = f" and {len(members) - 1} more" if len(members) > 1 else ""
        columns.append([members[0] + others, *answers, *(megabytes(min(sizes)) for sizes in least)])
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def advice(machine: Machine, resources: dict[str, float], memory: int) -> Iterator[str]:
    """What to do about a node whose memory is not what Ray takes it for (`resources`), or too little for a task."""
    tasks, store = resources.get("memory", 0), resources.get("object_store_memory", 0)
    if tasks < memory:
        yield (
            f"gets no work: it has {megabytes(tasks)} for tasks, and resources.memory_per_task is {megabytes(memory)}; "
            "lower that, or give Ray more (`ray start --memory=BYTES`)"
        )
    if tasks > machine.memory:
        yield (
            f"Ray counts on {megabytes(tasks)}, and its control group (cgroup) allows {megabytes(machine.memory)}: "
            f"tasks would be killed. Raise the limit, or use `ray start --memory={machine.memory * 7 // 10}`"
        )
    if machine.shared_memory < store:
        yield (
            f"/dev/shm has {megabytes(machine.shared_memory)}, and Ray's object store takes {megabytes(store)}: it may "
            "lie on disk. Enlarge /dev/shm (`docker run --shm-size=256m`), or use `ray start --object-store-memory="
            f"{OBJECT_STORE_BYTES}`: tasks exchange paths, so that is enough"
        )
