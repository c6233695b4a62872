"""Measure, filter and sketch: one pass over the raw text of a shard, or over as little of it as has to be done again.

Four records tell what is done for each part of a shard, each with a fingerprint of its own: `measure` (signals),
`judge` (verdicts), `keep` (kept text), `sketch` (signatures). Changed rules reuse the signals, and raw text is read
again only where the set of kept documents changes.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing

from zydaflow.errors import RunError
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import Recipe
from zydaflow.sources import Shard
from zydaflow.stages.aside import Failing, failing_of
from zydaflow.stages.failing import find_failing
from zydaflow.stages.job import BATCH_BYTES, Job
from zydaflow.stages.judging import judge_stored
from zydaflow.stages.parts import PreparedPart, parts_of, steps_done, steps_of
from zydaflow.stages.raw import check_readable, raw_batches, raw_parts, sizes
from zydaflow.stages.reading import read_part, warm, watched
from zydaflow.stages.sketching import sketch_stored
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

SMALLER = 8  # by what batches are divided each time that the memory did not suffice
SMALLEST_BATCH = 2**16


def units(store: Store, recipe: Recipe, shards: Sequence[Shard]) -> list[Unit]:
    """The shards for which something is to be done; each is taken for an equal share of its file."""
    todo = []
    for shard, size in zip(shards, sizes(shards), strict=True):
        job = Job(recipe, shard)
        if steps_done(job, parts_of(store, job)) != set(steps_of(job)):
            todo.append(Unit(f"{shard.dataset}/{shard.name}", prepare, (recipe, shard), size, careful=True))
    return todo


def prepare(store: Store, recipe: Recipe, shard: Shard, trouble: Trouble = NONE) -> Done:
    """Brings every part of a shard up to date with the recipe. After trouble, finds and sets aside what made it."""
    job = Job(recipe, shard, max(SMALLEST_BATCH, BATCH_BYTES // SMALLER**trouble.kills))
    warm(job)
    measured = {part.number: part for part in parts_of(store, job)}
    failing = _failing(store, job, measured) if trouble.suspect else {}
    if trouble.suspect and not trouble.kills and not failing:
        raise RunError(f"{shard.url}: an error was raised, and no document is at fault")
    unsettled = [
        part.number
        for part in measured.values()
        if part.number in failing or not _settle_without_raw_text(store, job, part)
    ]
    following = _following(measured)
    if following is None and not unsettled:
        return Done(0, 0)
    last = max(unsettled) if following is None else None
    documents = size = 0
    starts = unsettled if following is None else [*unsettled, following]
    for number, batches, ahead in raw_parts(job, min(starts), last):
        if number in measured and number not in unsettled:
            continue
        known = None if number in failing else _reusable(job, measured.get(number))
        aside = failing_of(known) if known else failing.get(number, {})
        with closing(watched(batches, recipe.resources.document_seconds)) as limited:
            done = read_part(store, job, number, limited, ahead, known, aside)
        documents += done.documents
        size += done.bytes
    return Done(documents, size)


def prepare_part(store: Store, recipe: Recipe, shard: Shard, number: int, measured: Record) -> Done:
    """Does everything with one part of a shard's raw text again, in the way in which it was measured."""
    job = Job(recipe, shard, _batch_bytes(measured))
    for part, batches, following in raw_parts(job, number, number):
        return read_part(store, job, part, batches, following, None, failing_of(measured))
    raise AssertionError("a shard has a part")


def _reusable(job: Job, part: PreparedPart | None) -> Record | None:
    """What was measured of a part, if its files have the batches of this job, so that all files of a part have."""
    return part.measure if part and _batch_bytes(part.measure) == job.batch_bytes else None


def _batch_bytes(measured: Record) -> int:
    return int(measured.facts.get("batch_bytes", BATCH_BYTES))


def _following(measured: Mapping[int, PreparedPart]) -> int | None:
    """The first part that is not measured; None where all are."""
    return measured[max(measured)].next if measured else 0


def _failing(store: Store, job: Job, measured: Mapping[int, PreparedPart]) -> dict[int, Failing]:
    """The documents that cannot be processed, by part, in the parts that are not done.

    Raises RunError where a part cannot be read.
    """
    done = {number for number, part in measured.items() if set(steps_of(job)) <= set(part.records)}
    following = _following(measured)
    starts = [number for number in (*measured, following) if number is not None and number not in done]
    if not starts:
        return {}
    check_readable(job, min(starts))
    batches = raw_batches(job, min(starts))
    return find_failing(store, job, (batch for batch in batches if batch.part not in done))


def _settle_without_raw_text(store: Store, job: Job, part: PreparedPart) -> bool:
    """Judges from the stored signals and sketches from the kept text; False if the raw text has to be read again."""
    unit, kept = job.unit(part.number), part.keep
    if part.judge is None:
        keep = judge_stored(store, job, part.number, part.measure)
        kept = store.find("keep", unit, keep) if keep else None
    if kept is None:
        return False
    if job.sketches and store.find("sketch", unit, job.sketch_fingerprint(kept.fingerprint)) is None:
        sketch_stored(store, job, part.number, kept)
    return True
