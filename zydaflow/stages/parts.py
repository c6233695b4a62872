"""The parts of a shard, as far as they are prepared: what commit records say."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zydaflow.provenance.commits import Record, Store
from zydaflow.stages.job import Job
from zydaflow.stages.scores import score_records

STEPS = ("measure", "judge", "keep", "sketch")


class PreparedPart(NamedTuple):
    """One measured part, and the records of its scores and further steps that are there and stand under the recipe."""

    number: int
    measure: Record
    judge: Record | None
    keep: Record | None
    sketch: Record | None
    scores: dict[str, Record]
    """by scorer"""

    @property
    def next(self) -> int | None:
        """The number of the part that follows; None at the end of the file."""
        return self.measure.facts["next"]

    @property
    def records(self) -> dict[str, Record]:
        """Those that are there, by step."""
        return {step: record for step in STEPS if (record := getattr(self, step)) is not None}


def parts_of(store: Store, job: Job) -> list[PreparedPart]:
    """The parts of a shard that are measured, without a gap from its beginning."""
    return list(_parts(store, job))


def _parts(store: Store, job: Job) -> Iterator[PreparedPart]:
    number: int | None = 0
    while number is not None:
        unit = job.unit(number)
        measured = store.find("measure", unit, job.measure_fingerprint(number))
        if measured is None:
            return
        scores = score_records(store, job, number)
        judged = store.find("judge", unit, job.judge_fingerprint(number))
        kept = store.find("keep", unit, judged.facts["keep"]) if judged else None
        sketched = (
            store.find("sketch", unit, job.sketch_fingerprint(kept.fingerprint)) if kept and job.sketches else None
        )
        part = PreparedPart(number, measured, judged, kept, sketched, scores)
        yield part
        number = part.next


def steps_of(job: Job) -> Sequence[str]:
    """The steps that the recipe asks for."""
    return STEPS if job.sketches else STEPS[:-1]


def steps_done(job: Job, parts: Sequence[PreparedPart]) -> set[str]:
    """The steps that are done for all parts of a shard; none before its end is reached."""
    if not parts or parts[-1].next is not None:
        return set()
    return {step for step in steps_of(job) if all(step in part.records for part in parts)}
