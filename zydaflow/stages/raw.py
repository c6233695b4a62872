"""The raw text of a shard: its parts, read once, in order, each batch in its time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from zydaflow import sources
from zydaflow.errors import RunError
from zydaflow.sources import Batch, Shard
from zydaflow.stages.job import Job
from zydaflow.stages.reading import Following, read_in_time
from zydaflow.stages.trial import unreadable


def sizes(shards: Sequence[Shard]) -> list[int]:
    """About how many bytes there are in each: an equal share of its file."""
    shares = Counter((shard.dataset, shard.file) for shard in shards)
    return [max(shard.size, 0) // shares[shard.dataset, shard.file] for shard in shards]


def raw_batches(job: Job, start: int) -> Iterator[Batch]:
    """The batches of a shard from part `start` on."""
    resources = job.recipe.resources
    batches = sources.read_shard(
        job.shard,
        job.dataset,
        part_bytes=resources.shard_bytes,
        seed=job.recipe.seed,
        first_part=start,
        batch_bytes=job.batch_bytes,
    )
    return read_in_time(batches, resources.document_seconds, before=start * resources.shard_bytes)


def raw_parts(job: Job, start: int, last: int | None) -> Iterator[tuple[int, Iterator[Batch], Following]]:
    """The parts of a shard from `start` to `last` (or its end), each with its batches, read once, in order."""
    batches = raw_batches(job, start)
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


def check_readable(job: Job, start: int) -> None:
    """Tries it in a process of its own. Raises RunError where a shard cannot be read from part `start` on."""
    failure = unreadable(partial(raw_batches, job, start), job.recipe.resources.document_seconds)
    if failure:
        raise RunError(f"{job.shard.url}: {failure.reason}; leave the file, or what is next in it, out of the input")
