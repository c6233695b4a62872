"""Audit: a random sample of a finished run done once more, on other nodes than the first time, and compared.

What `verify` cannot see: a file that is as its commit record says, and wrong, since a core or memory was faulty.
"""

import math
import random
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from zydaflow.engine import explained, on_every_node, run_units, session
from zydaflow.engine.apart import run_apart
from zydaflow.engine.progress import Meter
from zydaflow.errors import InputError
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.provenance.run_file import RECIPE, RUN, read_run
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.say import warn
from zydaflow.stages import manifest as manifests
from zydaflow.stages import match
from zydaflow.stages.compiled import asked_for, compile_once
from zydaflow.stages.finished import manifest_of
from zydaflow.stages.layer import Layer
from zydaflow.stages.recompute import (
    PREPARE,
    Check,
    Checked,
    Records,
    checks_of_parts,
    checks_of_scores,
    checks_of_stages,
    failed,
    recompute,
)
from zydaflow.stages.unit import Done
from zydaflow.storage import AnyPath, temporary_folder


class StageAudit(NamedTuple):
    """Of so many units of a stage, those that were done again, and how many of them on another node."""

    stage: str
    units: int
    audited: int
    elsewhere: int


class Audit(NamedTuple):
    """What an audit found; a sample of the same `seed` takes the same units."""

    seed: int
    stages: list[StageAudit]
    differing: list[Checked]
    obstacles: list[str]


def audit(
    out: AnyPath, sample: float = 0.01, seed: int | None = None, address: str = "local", workers: int | None = None
) -> Audit:
    """Recomputes a share of the units of each stage, at least one, and compares with the commit records bit by bit.

    The units of `prepare` (measure, judge, keep, sketch) start from the input, those of the other stages from what the
    run holds. Nothing in `out` changes; temporary files lie in a folder beside it, which goes at the end.

    Args:
        out: the folder of a finished run.
        sample: above 0, up to 1.
        seed: of the sample; default: another each time.
        address, workers: as for `run`.

    Raises InputError for what is no finished run, and where nothing of it can be recomputed.
    """
    store, recipe = _finished(out)
    records = {(record.stage, record.unit): record for record in store.records()}
    rng = random.Random(seed := secrets.randbits(32) if seed is None else seed)
    with ExitStack() as stack:
        stack.enter_context(explained(str(store.root.parent)))
        scratch = stack.enter_context(temporary_folder(store.root.parent))
        run = Layer(scratch, store)
        checks, obstacles = _checks(run, store, recipe, records)
        if not checks:
            raise InputError(f"{out}: nothing of it can be recomputed\n" + "\n".join(obstacles))
        chosen = _sample(checks, sample, rng)
        warn("starting Ray and compiling kernels")
        stack.enter_context(session(address, workers))
        on_every_node(compile_once, *asked_for(recipe))
        done = list(_recompute(run, recipe, chosen))
    obstacles += sorted({f"{of.check.stage} {of.check.unit}: {of.obstacle}" for of in done if of.obstacle})
    return Audit(seed, _counted(checks, done), [of for of in done if of.differences], obstacles)


def _finished(out: AnyPath) -> tuple[Store, Recipe]:
    run = read_run(out)
    if run is None:
        raise InputError(f"{out}: no {RUN} that can be read, so this is no folder of a run")
    if not run["finished"]:
        raise InputError(f"{out}: the run has not come to its end; `zydaflow run` goes on with it")
    store = Store(out)
    return store, load_recipe(store.path(RECIPE))


def _checks(run: Layer, store: Store, recipe: Recipe, records: Records) -> tuple[list[Check], list[str]]:
    """All units that can be recomputed, and what is in the way of the others."""
    checks, obstacles = checks_of_parts(store, recipe, records), []
    lost = sum(1 for stage, _ in records if stage == "measure") - len(checks)
    checks = checks_of_scores(store, recipe, records) + checks
    if lost:
        obstacles.append(f"{PREPARE}: the input of {lost:,} units is gone, or another than the run read")
    try:
        return checks + _later(run, store, recipe, records), obstacles
    except DamagedArtefact as damage:
        return checks, [*obstacles, f"all stages after {PREPARE}: {damage}; `--clean` removes work/"]


def _later(run: Layer, store: Store, recipe: Recipe, records: Records) -> list[Check]:
    """Raises DamagedArtefact where the run has no longer all its files."""
    for file in (file for record in records.values() for file in record.artefacts.values()):
        if not store.intact(file):
            raise DamagedArtefact(file.path, "is missing or short")
    manifest = manifest_of(store)
    if manifest is None:
        raise DamagedArtefact("work/manifest", "cannot be read")
    moved = replace(manifest, parts=tuple(manifests.elsewhere(part, store.root) for part in manifest.parts))
    path = run.path(manifests.save(run, moved))
    return checks_of_stages(run, recipe, moved, str(path), records)


def _sample(checks: Sequence[Check], share: float, rng: random.Random) -> list[Check]:
    """So much of each stage, and one unit of it at least."""
    chosen = []
    for _, of in groupby(checks, attrgetter("stage")):
        units = list(of)
        chosen += rng.sample(units, math.ceil(share * len(units)))
    return chosen


def _recompute(run: Layer, recipe: Recipe, checks: Sequence[Check]) -> Iterator[Checked]:
    memory = recipe.resources.memory_per_task
    matched = next((check for check in checks if check.stage == "match"), None)
    if matched:  # a run does not keep its band keys
        _, path, *_ = matched.arguments
        try:
            run_units(run, "bands", match.band_units(run, recipe, manifests.load(run, path), path), memory)
        except DamagedArtefact as damage:
            raise InputError(f"{damage}; `zydaflow verify` tells what else is damaged") from damage
    calls = [(run, str(run.root), check) for check in checks]
    meter = Meter(run, "audit", len(checks), 0, 0)
    meter.tick()
    for number, result in run_apart(recompute, calls, [check.node for check in checks], memory):
        meter.finished(Done(0, 0), 0)
        meter.tick()
        yield failed(checks[number], result) if isinstance(result, Exception) else result
    meter.close()


def _counted(checks: Sequence[Check], done: Sequence[Checked]) -> list[StageAudit]:
    """By stage, in their order."""
    units, answered = Counter(check.stage for check in checks), [of for of in done if not of.obstacle]
    audited = Counter(of.check.stage for of in answered)
    elsewhere = Counter(of.check.stage for of in answered if of.node != of.check.node)
    return [StageAudit(stage, units[stage], audited[stage], elsewhere[stage]) for stage in units]


def render(found: Audit) -> str:
    """How much of each stage was audited, and every difference with its unit, file and nodes."""
    lines = [f"{'stage':<10} {'units':>10} {'audited':>10} {'on another node':>16}"]
    lines += [f"{of.stage:<10} {of.units:>10,} {of.audited:>10,} {of.elsewhere:>16,}" for of in found.stages]
    lines += [f"not audited: {obstacle}" for obstacle in found.obstacles]
    for checked in found.differing:
        for of in checked.differences:
            first, again = checked.check.node or "a node that is not recorded", checked.node
            lines.append(f"{of.what}: {of.stage} {of.unit} made {of.was} on {first}, and makes {of.now} on {again}")
    same = "" if found.differing else "every unit of the sample gives what its commit record says; "
    return "\n".join([*lines, f"{same}--seed {found.seed} takes the same sample"])
