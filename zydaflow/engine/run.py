"""Runs the units of a stage on Ray, and decides what to do when one fails."""

import re
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from zydaflow.engine import failures
from zydaflow.engine.disk import is_full
from zydaflow.engine.hands import Hands
from zydaflow.engine.pool import Actors, Pool
from zydaflow.engine.preflight import Nodes
from zydaflow.engine.progress import Meter
from zydaflow.engine.tasks import Tasks
from zydaflow.errors import InputError, RecipeError, RunError, ZydaflowError
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.resuming import how_to_resume
from zydaflow.stages.unit import Timing, Trouble, Unit

TRIES = 4  # for what can pass by itself: a worker lost, storage that times out
LASTING = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SMALL = 8_000_000  # bytes of text up to which several units share a task: so much work outweighs starting one
TOGETHER = 64  # units that share a task, at most


@dataclass
class _State:
    waiting: deque[Unit]
    nodes: Nodes | None
    running: dict[Any, list[Unit]] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)  # units that share no task any more
    tries: dict[str, int] = field(default_factory=dict)
    troubles: dict[str, Trouble] = field(default_factory=dict)
    raised: dict[str, tuple[BaseException, str]] = field(default_factory=dict)  # what a search was made for
    failures: list[dict[str, str]] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)


def run_units(
    store: Store,
    stage: str,
    units: list[Unit],
    memory: int,
    reused: int = 0,
    nodes: Nodes | None = None,
    pool: Pool | None = None,
) -> Timing:
    """Does the units, each on one core with `memory` bytes, or in a pool, in whatever order they get done.

    Where there are many, small ones share a task. A node that is not among `nodes` is asked before it does any, which
    may raise RunError; without `nodes` none is.

    A unit that fails for a passing reason is tried again, up to `TRIES` times; so is a careful one that fails for a
    reason that it can take care of, which it is told. Any other failure leaves the unit undone while the others finish,
    and then RunError lists them (InputError where only inputs are at fault, RecipeError where only the recipe is). A
    full disk or a damaged artefact stops at once.
    """
    timing = Timing()
    if not units:
        return timing
    meter = Meter(store, stage, len(units), sum(u.bytes for u in units), reused)
    hands: Hands = Actors(pool, len(units)) if pool else Tasks(memory)
    state, started = _State(deque(sorted(units, key=lambda unit: -unit.bytes)), nodes), time.perf_counter()
    try:
        _loop(store, state, meter, timing, hands)
    except BaseException:
        meter.close("stopped")
        raise
    finally:
        hands.close(state.running)
    timing.wall = time.perf_counter() - started
    meter.close("failed" if state.failures else "done")
    if state.failures:
        _raise(store, stage, state)
    return timing


def _loop(store: Store, state: _State, meter: Meter, timing: Timing, hands: Hands) -> None:
    import ray

    hands.check_room()
    store_ref = ray.put(store)
    while state.waiting or state.running:
        window = hands.many()
        while state.waiting and hands.free(len(state.running)):
            units = _next(state, window)
            names = state.nodes.names if state.nodes else None
            state.running[hands.call(store_ref, units, state.troubles.get(units[0].name), names)] = units
        ready, _ = ray.wait([*state.running, *hands.starting], timeout=0.5)
        meter.running = sum(map(len, state.running.values()))
        if not ready:  # a node may be gone
            hands.check_room()
        for ref in ready:
            hands.ended(ref)
            if ref in state.running:
                _settle(ref, state, meter, timing)
        meter.tick()


def _next(state: _State, window: int) -> list[Unit]:
    """The units of the next task: several small ones while there are plenty for everyone, or a single one."""
    units = [state.waiting.popleft()]
    most, size = min(TOGETHER, len(state.waiting) // (2 * window)), units[0].bytes
    while len(units) < most and state.alone.isdisjoint((units[0].name, state.waiting[0].name)):
        size += state.waiting[0].bytes
        if size > SMALL:
            break
        units.append(state.waiting.popleft())
    return units


def _settle(ref: Any, state: _State, meter: Meter, timing: Timing) -> None:
    import ray

    units, outcomes = state.running.pop(ref), []
    try:
        outcomes = ray.get(ref)
    except ray.exceptions.RayError as error:
        if len(units) == 1:
            cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
            _failed(units[0], cause, str(error), state, meter)
            return
    if state.nodes and isinstance(outcomes, str):
        state.waiting.extendleft(units)
        if outcomes not in state.nodes.names:
            state.nodes.admit(outcomes)
        return
    for unit, (done, seconds) in zip(units, outcomes, strict=False):
        meter.finished(done, unit.bytes)
        timing.seconds += seconds
        timing.documents += done.documents
        timing.bytes += done.bytes
        timing.units += 1
    if left := units[len(outcomes) :]:  # one of them failed
        meter.retried += 1
        state.alone.update(unit.name for unit in left)
        state.waiting.extend(left)


def _failed(unit: Unit, cause: BaseException, text: str, state: _State, meter: Meter) -> None:
    if isinstance(cause, DamagedArtefact):
        raise cause
    if is_full(cause):
        raise cause
    tries = state.tries[unit.name] = state.tries.get(unit.name, 0) + 1
    trouble = _trouble(cause, state.troubles.get(unit.name, Trouble())) if unit.careful else None
    if trouble:
        state.troubles[unit.name] = trouble
        if not trouble.kills:
            state.raised[unit.name] = cause, text
    if (trouble or _passing(cause)) and tries < TRIES:
        meter.retried += 1
        state.waiting.append(unit)
        return
    meter.failed += 1
    first, text = state.raised.get(unit.name, (cause, text))
    told = f"{type(first).__name__}: {first}"
    if first is not cause:  # what the search made of it
        told += f"; then {str(cause).partition(chr(10))[0]}"
    meter.error = f"{unit.name}: {told}"
    state.errors.append(first)
    state.failures.append({"unit": unit.name, "error": told, "tries": str(tries), "traceback": COLOURS.sub("", text)})


def _trouble(cause: BaseException, before: Trouble) -> Trouble | None:
    """What a careful unit has to know when it is done again; None where care is of no help."""
    import ray

    if isinstance(cause, MemoryError | ray.exceptions.OutOfMemoryError):
        return replace(before, kills=before.kills + 1)
    if isinstance(cause, ray.exceptions.WorkerCrashedError | ray.exceptions.RayActorError):
        return Trouble(before.kills + 1, suspect=True)
    if before.suspect or isinstance(cause, ZydaflowError | OSError | ray.exceptions.RayError):
        return None
    return replace(before, suspect=True)


def _passing(cause: BaseException) -> bool:
    """Whether the failure can pass by itself: a lost worker or node, storage trouble; never wrong data or a bug."""
    import ray

    lost = (
        ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError,
        ray.exceptions.ObjectLostError, ray.exceptions.LocalRayletDiedError, ray.exceptions.RuntimeEnvSetupError,
        ray.exceptions.RayActorError,
    )  # fmt: skip
    return isinstance(cause, lost) or (isinstance(cause, OSError) and not isinstance(cause, LASTING))


def _raise(store: Store, stage: str, state: _State) -> None:
    failures.write(store, stage, state.failures)
    lines = "\n".join(f"  {f['unit']}: {f['error']}" for f in state.failures[:20])
    more = f"\n  … and {len(state.failures) - 20} more" if len(state.failures) > 20 else ""
    if all(isinstance(e, InputError) for e in state.errors):
        raise InputError(
            f"{stage}: {len(state.failures)} of the inputs cannot be used; the other units are done\n{lines}{more}"
        )
    if all(isinstance(e, RecipeError) for e in state.errors):
        raise RecipeError(f"{stage}: {len(state.failures)} of the units cannot be done so\n{lines}{more}")
    first = "" if all(isinstance(e, ZydaflowError) for e in state.errors) else f"\n{state.failures[0]['traceback']}"
    raise RunError(
        f"{stage}: {len(state.failures)} of the units failed, the others are done; "
        f"details in {store.path(failures.FILE)}\n{lines}{more}{first}\nto go on: {how_to_resume()}"
    )
