"""Finding documents whose processing ends the process, does not return in time or raises an error.

All is tried batch by batch, in a process of its own. A batch that fails is cut into pieces, those that fail again, and
so on down to single documents: one document costs a process per level, and there are few levels.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from functools import partial

import pyarrow as pa

from zydaflow.errors import RunError
from zydaflow.provenance.commits import Store
from zydaflow.sources import Batch
from zydaflow.sources.records import quarantine_of
from zydaflow.stages.aside import Failing
from zydaflow.stages.job import Job
from zydaflow.stages.reading import Pass, warm
from zydaflow.stages.trial import Failure, Trial

PIECES = 64  # that a failing batch is cut into
MOST = 20  # failing documents of one unit, beyond which the fault is not taken to be theirs


def find_failing(store: Store, job: Job, batches: Iterable[Batch]) -> dict[int, Failing]:
    """The documents of a shard's batches that cannot be processed, by part.

    Raises RunError where there are more than `MOST`, and what `Trial.failure` does.
    """
    found: dict[int, Failing] = {}
    with closing(
        Trial(partial(warm, job), partial(_process, store, job), job.recipe.resources.document_seconds)
    ) as trial:
        for batch in batches:
            for row, failure in failing_rows(trial, batch.records):
                position, id_ = (batch.records[name][row].as_py() for name in ("position", "id"))
                named = "" if id_ is None else f"; its id is {id_}"
                found.setdefault(batch.part, {})[position] = f"{failure.reason}{named}"
                if sum(map(len, found.values())) > MOST:
                    raise RunError(
                        f"more than {MOST} documents cannot be processed, so the fault is hardly theirs; "
                        f"that at {position:,} of {job.shard.url}: {failure.reason}\n{failure.traceback}"
                    )
    return found


def _process(store: Store, job: Job, records: pa.RecordBatch) -> None:
    with ExitStack() as outputs:
        Pass(outputs, store, job, 0, None, {}).add(Batch(0, records, quarantine_of([]), 0, 0))


def failing_rows(trial: Trial, records: pa.RecordBatch) -> Iterator[tuple[int, Failure]]:
    """The rows that cannot be processed, ascending. Raises what `Trial.failure` does."""
    with tempfile.NamedTemporaryFile(prefix="zydaflow-") as file:
        with pa.ipc.new_stream(file, records.schema) as stream:
            stream.write_batch(records)
        file.flush()
        yield from _among(trial, file.name, 0, len(records))


def _among(trial: Trial, path: str, low: int, high: int) -> Iterator[tuple[int, Failure]]:
    failure = trial.failure(path, low, high) if high > low else None
    if failure is None:
        return
    if high - low == 1:
        yield low, failure
        return
    step = -(-(high - low) // PIECES)
    for start in range(low, high, step):
        yield from _among(trial, path, start, min(start + step, high))
