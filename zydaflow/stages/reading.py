"""One pass over the raw text of a part: measured, judged, kept and sketched."""

import faulthandler
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import pyarrow as pa

from zydaflow import dedup, signals, transforms
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import DedupSpec
from zydaflow.sources import Batch
from zydaflow.stages.aside import Failing, set_aside
from zydaflow.stages.job import BATCH_BYTES, Job
from zydaflow.stages.judging import Judging
from zydaflow.stages.keeping import Keeping
from zydaflow.stages.measuring import Measuring
from zydaflow.stages.scores import Scores
from zydaflow.stages.sketching import Sketching
from zydaflow.stages.unit import Done

Names = tuple[str, ...]

STDERR = 2  # in a worker, its log


class Following:
    """Which part comes after this one: known only when this one has been read to its end."""

    def __init__(self) -> None:
        self.part: int | None = None


class Pass:
    """Does everything with the raw text of one part that is not done yet; `measured` is what was measured before."""

    def __init__(
        self, outputs: ExitStack, store: Store, job: Job, part: int, measured: Record | None, failing: Failing
    ) -> None:
        self._failing = failing
        self._measuring = Measuring(outputs, store, job, part, measured)
        self._scores = Scores(store, job, part)
        self._judging = Judging(outputs, store, job, part, failing)
        self._keeping = Keeping(outputs, store, job, part)
        self._sketching = Sketching(outputs, store, job, part) if job.sketches else None

    def add(self, batch: Batch) -> int:
        """Works through a batch; returns the bytes of its transformed text."""
        measurements, text = self._measuring.add(batch)
        kept = self._judging.add(self._scores.beside(measurements))
        kept_text = self._keeping.add(batch, measurements, text, kept)
        if self._sketching:
            self._sketching.add(kept_text)
        return int(text.nbytes)

    def commit(self, following: int | None) -> None:
        """Commits all of it; nothing of a pass that does not come to this is left."""
        self._scores.check()
        self._measuring.commit(following, self._failing)
        keep = self._judging.keep_fingerprint()
        self._keeping.commit(keep)
        if self._sketching:
            self._sketching.commit(keep)
        self._judging.commit()


def read_part(
    store: Store,
    job: Job,
    part: int,
    batches: Iterable[Batch],
    following: Following,
    measured: Record | None,
    failing: Failing,
) -> Done:
    """Reads one part of the raw text, but for the failing documents, and does what is not done yet with it."""
    documents = size = 0
    with ExitStack() as outputs:
        running = Pass(outputs, store, job, part, measured, failing)
        for batch in batches:
            size += running.add(set_aside(batch, failing))
            documents += len(batch.records)
        running.commit(following.part)
    return Done(documents, size)


def warm(job: Job) -> None:
    """Loads the kernels and models that documents need, once per process: none of the time of a document goes there."""
    _warm(job.transform, job.measured_names, job.resources, job.recipe.dedup if job.sketches else None)


@cache
def _warm(transform: Names, names: Names, resources: signals.Resources, spec: DedupSpec | None) -> None:
    text = pa.array(["one two three"], pa.large_string())
    transformed = transforms.apply(transform, text)
    given = signals.measure_records(names, pa.nulls(1, pa.string()), None, resources)
    signals.measure(names, text, transformed, resources, given)
    if spec:
        dedup.sketch(transformed, spec.shingle, spec.permutations, seed=1)


def watched(batches: Iterator[Batch], seconds: float) -> Generator[Batch]:
    """The batches; the process ends when one is not done with in its time. To be closed, or used up."""
    for batch in batches:
        with time_limit(seconds, batch.records.nbytes):
            yield batch


def read_in_time(batches: Iterator[Batch], seconds: float, before: int) -> Iterator[Batch]:
    """The batches; the process ends when one takes longer to read. The first one comes after so many other bytes."""
    size = before
    while True:
        with time_limit(seconds, size):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
        size = 0


@contextmanager
def time_limit(seconds: float, size: int) -> Iterator[None]:
    """Ends the process, with a traceback, when the work inside on `size` bytes takes longer than `seconds`.

    So much is given for each `BATCH_BYTES`. It also ends native code that never lets go of the interpreter.
    """
    faulthandler.dump_traceback_later(seconds * max(1, size / BATCH_BYTES), exit=True, file=STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
