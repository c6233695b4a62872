"""Measure, filter and sketch: one pass over the raw text of a shard, or over as little of it as has to be done again.

Four records tell what is done for each part of a shard, each with a fingerprint of its own: `measure` (signals),
`judge` (verdicts), `keep` (kept text), `sketch` (signatures). Changed rules reuse the signals, and raw text is read
again only where the set of kept documents changes.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from zydaflow import sources
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import Recipe
from zydaflow.sources import Batch, Shard
from zydaflow.stages.job import Job
from zydaflow.stages.judging import Judging, judge_stored
from zydaflow.stages.keeping import Keeping
from zydaflow.stages.measuring import Measuring
from zydaflow.stages.sketching import Sketching, sketch_stored
from zydaflow.stages.unit import Done, Unit


def units(store: Store, recipe: Recipe, shards: Iterable[Shard]) -> list[Unit]:
    """The shards for which something is to be done."""
    todo = []
    for shard in shards:
        if not complete(store, Job(recipe, shard)):
            size = (
                shard.size if shard.stop < 0 or shard.form == "parquet" else min(shard.size, shard.stop - shard.start)
            )
            todo.append(Unit(f"{shard.dataset}/{shard.name}", prepare, (recipe, shard), size))
    return todo


def complete(store: Store, job: Job) -> bool:
    """Whether every part of the shard has all its records."""
    parts = list(measured_parts(store, job))
    return bool(parts) and parts[-1][1].facts["next"] is None and all(_settled(store, job, part) for part, _ in parts)


def measured_parts(store: Store, job: Job) -> Iterator[tuple[int, Record]]:
    """The parts of a shard that are measured, from its beginning; each record names the next part."""
    part: int | None = 0
    while part is not None:
        record = store.find("measure", job.unit(part), job.measure_fingerprint(part))
        if record is None:
            return
        yield part, record
        part = record.facts["next"]


def _settled(store: Store, job: Job, part: int) -> bool:
    judged = store.find("judge", job.unit(part), job.judge_fingerprint(part))
    if judged is None:
        return False
    keep = judged.facts["keep"]
    if store.find("keep", job.unit(part), keep) is None:
        return False
    return job.recipe.dedup is None or store.find("sketch", job.unit(part), job.sketch_fingerprint(keep)) is not None


def prepare(store: Store, recipe: Recipe, shard: Shard) -> Done:
    """Brings every part of a shard up to date with the recipe."""
    job = Job(recipe, shard)
    measured = dict(measured_parts(store, job))
    unsettled = [part for part, record in measured.items() if not _settle_without_raw_text(store, job, part, record)]
    ends = bool(measured) and measured[max(measured)].facts["next"] is None
    if ends and not unsettled:
        return Done(0, 0)
    start = min(unsettled, default=measured[max(measured)].facts["next"] if measured else 0)
    last = max(unsettled) if ends else None
    documents = size = 0
    for part, batches, following in _parts(job, start, last):
        if part in measured and part not in unsettled:
            continue
        done = _read_part(store, job, part, batches, following, measured.get(part))
        documents += done.documents
        size += done.bytes
    return Done(documents, size)


class _Following:
    """Which part comes after this one: known only when this one has been read to its end."""

    def __init__(self) -> None:
        self.part: int | None = None


def _parts(job: Job, start: int, last: int | None) -> Iterator[tuple[int, Iterator[Batch], _Following]]:
    """The parts of a shard from `start` to `last` (or its end), each with its batches, read once, in order."""
    batches = sources.read_shard(
        job.shard,
        job.dataset,
        part_bytes=job.recipe.resources.shard_bytes,
        seed=job.recipe.seed,
        first_part=start,
    )
    ahead = next(batches, None)
    part: int | None = start
    while part is not None and (last is None or part <= last):
        following = _Following()

        def one(part: int = part, following: _Following = following) -> Iterator[Batch]:
            nonlocal ahead
            while ahead is not None and ahead.part == part:
                yield ahead
                ahead = next(batches, None)
            following.part = ahead.part if ahead is not None else None

        rest = one()
        yield part, rest, following
        for _ in rest:  # a part that was skipped
            pass
        part = following.part


def _settle_without_raw_text(store: Store, job: Job, part: int, measured: Record) -> bool:
    """Judges from the stored signals and sketches from the kept text; False if the raw text has to be read again."""
    judged = store.find("judge", job.unit(part), job.judge_fingerprint(part))
    keep = judged.facts["keep"] if judged else judge_stored(store, job, part, measured)
    kept = store.find("keep", job.unit(part), keep) if keep else None
    if kept is None:
        return False
    if job.recipe.dedup and store.find("sketch", job.unit(part), job.sketch_fingerprint(kept.fingerprint)) is None:
        sketch_stored(store, job, part, kept)
    return True


def _read_part(
    store: Store, job: Job, part: int, batches: Iterable[Batch], following: _Following, measured: Record | None
) -> Done:
    """Reads one part of the raw text and does everything with it that is not done yet."""
    documents = size = 0
    with ExitStack() as outputs:
        measuring = Measuring(outputs, store, job, part, measured)
        judging = Judging(outputs, store, job, part)
        keeping = Keeping(outputs, store, job, part)
        sketching = Sketching(outputs, store, job, part) if job.recipe.dedup else None
        for batch in batches:
            measurements, text = measuring.add(batch)
            kept = judging.add(measurements)
            kept_text = keeping.add(batch, measurements, text, kept)
            if sketching:
                sketching.add(kept_text)
            documents += len(batch.records)
            size += text.nbytes
        measuring.commit(following.part)
        keep = judging.keep_fingerprint()
        keeping.commit(keep)
        if sketching:
            sketching.commit(keep)
        judging.commit()
    return Done(documents, size)
