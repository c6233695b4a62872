"""Scores of a part's documents beside what is measured of them: matched by position."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from zydaflow.errors import RunError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import batches, read_table
from zydaflow.signals.scores import PREFIX
from zydaflow.stages.job import Job


class ScoresGone(RunError):
    """Documents have no scores that had them before."""


def scores_schema(name: str) -> pa.Schema:
    """One row per record that was read, in the order of positions."""
    return pa.schema([("position", pa.int64()), (PREFIX + name, pa.float64())])


def score_record(store: Store, job: Job, part: int, name: str) -> Record | None:
    """What a scorer made of one part, if it stands under the recipe."""
    return store.find("score", job.score_unit(part, name), job.score_fingerprint(part, name))


def score_records(store: Store, job: Job, part: int) -> dict[str, Record]:
    """By scorer, what each of the dataset's made of one part, as far as it is there."""
    found = {name: score_record(store, job, part, name) for name in job.scorers}
    return {name: record for name, record in found.items() if record is not None}


def aligned(scores: pa.Table, positions: np.ndarray) -> pa.Array:
    """The scores, float64 (n,), of the documents at n positions; null where there is no row for one."""
    rows = _rows(scores, positions)
    return scores.column(1).combine_chunks().take(pa.array(rows, mask=rows < 0))


def _rows(scores: pa.Table, positions: np.ndarray) -> np.ndarray:
    """int64 (n,): the row of each position; -1 where there is none."""
    known = scores["position"].to_numpy()
    rows = np.searchsorted(known, positions)
    there = rows < len(known)
    there[there] = known[rows[there]] == positions[there]
    return np.where(there, rows, -1)


class Scores:
    """The scores of one part. What no scorer of the dataset gives is null."""

    def __init__(self, store: Store, job: Job, part: int) -> None:
        records = score_records(store, job, part)
        self._tables = {PREFIX + name: read_table(store, of.artefacts["scores"]) for name, of in records.items()}
        self._names, self._unit = job.score_names, job.unit(part)
        self._lacking = len(records) < len(job.scorers)

    def beside(self, measurements: pa.RecordBatch) -> pa.RecordBatch:
        """The measurements with a column for each score."""
        positions = measurements["position"].to_numpy()
        for name in self._names:
            scores = pa.nulls(len(positions), pa.float64())
            if name in self._tables:
                self._lacking |= bool((_rows(self._tables[name], positions) < 0).any())
                scores = aligned(self._tables[name], positions)
            measurements = measurements.append_column(name, scores)
        return measurements

    def check(self) -> None:
        """Raises ScoresGone where a scorer of the dataset has not met all of the documents."""
        if self._lacking:
            raise ScoresGone(f"{self._unit}: its scores are gone, or of another input; run the same command again")


def measured_and_scored(store: Store, job: Job, part: int, measured: Record) -> Iterator[pa.RecordBatch]:
    """The stored signals of one part, with its scores. Raises ScoresGone where some are missing."""
    scores = Scores(store, job, part)
    for batch in batches(store, measured.artefacts["signals"]):
        yield scores.beside(batch)
    scores.check()
