"""Measure, filter and sketch: one pass over the raw text of a shard, or over as little of it as has to be done again.

Four records tell what is done for each part of a shard, each with a fingerprint of its own: `measure` (signals),
`judge` (verdicts), `keep` (kept text), `sketch` (signatures). Changed rules reuse the signals, and raw text is read
again only where the set of kept documents changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from zydaflow import sources
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import Recipe
from zydaflow.sources import Batch, Shard
from zydaflow.stages.job import Job
from zydaflow.stages.judging import Judging, judge_stored
from zydaflow.stages.keeping import Keeping
from zydaflow.stages.measuring import Measuring
from zydaflow.stages.parts import PreparedPart, parts_of, steps_done, steps_of
from zydaflow.stages.sketching import Sketching, sketch_stored
from zydaflow.stages.unit import Done, Unit


def units(store: Store, recipe: Recipe, shards: Sequence[Shard]) -> list[Unit]:
    """The shards for which something is to be done; each is taken for an equal share of its file."""
    shares = Counter((shard.dataset, shard.file) for shard in shards)
    todo = []
    for shard in shards:
        job = Job(recipe, shard)
        if steps_done(job, parts_of(store, job)) != set(steps_of(job)):
            size = max(shard.size, 0) // shares[shard.dataset, shard.file]
            todo.append(Unit(f"{shard.dataset}/{shard.name}", prepare, (recipe, shard), size))
    return todo


def prepare(store: Store, recipe: Recipe, shard: Shard) -> Done:
    """Brings every part of a shard up to date with the recipe."""
    job = Job(recipe, shard)
    measured = {part.number: part for part in parts_of(store, job)}
    unsettled = [part.number for part in measured.values() if not _settle_without_raw_text(store, job, part)]
    following = measured[max(measured)].next if measured else 0
    if following is None and not unsettled:
        return Done(0, 0)
    last = max(unsettled) if following is None else None
    documents = size = 0
    starts = unsettled if following is None else [*unsettled, following]
    for number, batches, ahead in _parts(job, min(starts), last):
        if number in measured and number not in unsettled:
            continue
        known = measured.get(number)
        done = read_part(store, job, number, batches, ahead, known.measure if known else None)
        documents += done.documents
        size += done.bytes
    return Done(documents, size)


class Following:
    """Which part comes after this one: known only when this one has been read to its end."""

    def __init__(self) -> None:
        self.part: int | None = None


def _parts(job: Job, start: int, last: int | None) -> Iterator[tuple[int, Iterator[Batch], Following]]:
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
        following = Following()

        def one(part: int = part, following: Following = following) -> Iterator[Batch]:
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


def read_part(
    store: Store, job: Job, part: int, batches: Iterable[Batch], following: Following, measured: Record | None
) -> Done:
    """Reads one part of the raw text and does everything with it that is not done yet."""
    documents = size = 0
    with ExitStack() as outputs:
        measuring = Measuring(outputs, store, job, part, measured)
        judging = Judging(outputs, store, job, part)
        keeping = Keeping(outputs, store, job, part)
        sketching = Sketching(outputs, store, job, part) if job.sketches else None
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
