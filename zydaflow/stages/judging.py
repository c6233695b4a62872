"""The filter part of preparing: signals → verdicts with every rule that a document breaks."""

from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import filters
from zydaflow.filters.statistics import RuleStatistics
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ParquetFile
from zydaflow.signals import SIGNALS
from zydaflow.stages.aside import Failing, failing_of
from zydaflow.stages.job import Job, MaskDigest, all_signals
from zydaflow.stages.measuring import State
from zydaflow.stages.scores import measured_and_scored

SCHEMA_VERSION = 1
VERDICTS = pa.array(["kept", "null", "empty", "filtered"])


def verdict_schema(job: Job) -> pa.Schema:
    """One row per record that was read, with the signals of all datasets (null where not measured) and the verdict."""
    fields = [
        ("dataset", pa.dictionary(pa.int32(), pa.string())),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("position", pa.int64()),
        ("id", pa.string()),
        ("license", pa.string()),
        ("bytes", pa.int64()),
        ("verdict", pa.dictionary(pa.int8(), pa.string())),
        ("broken", pa.list_(pa.string())),
        ("excerpt", pa.large_string()),
    ]
    columns = fields + [(name, SIGNALS[name].type) for name in all_signals(job.recipe)]
    return pa.schema(columns, metadata={"zydaflow.schema": f"signals/{SCHEMA_VERSION}"})


class Judging:
    """Judges one part."""

    def __init__(self, outputs: ExitStack, store: Store, job: Job, part: int, failing: Failing) -> None:
        self._store, self._job, self._part = store, job, part
        self._schema = verdict_schema(job)
        self._table = ParquetFile(outputs, store, f"signals/{job.shard.dataset}", self._schema)
        self._mask = MaskDigest(failing)
        self._statistics = RuleStatistics(job.rules, job.signal_names)
        self._counts = {"kept": 0, "kept_bytes": 0, "filtered": 0, "filtered_bytes": 0}

    def add(self, measurements: pa.RecordBatch) -> np.ndarray:
        """Which of the documents are kept, as bool of shape (n,)."""
        state = measurements["state"].to_numpy()
        broken = _broken(measurements, self._job)
        filtered: np.ndarray = np.any(broken, axis=1)
        kept: np.ndarray = (state == State.TEXT) & ~filtered
        verdict = np.where(filtered, 3, state).astype(np.int8)
        self._table.write(self._rows(measurements, verdict, broken))
        self._mask.update(kept)
        self._count(measurements, kept, filtered)
        self._statistics.add(measurements, broken, state == State.TEXT, self._job.shard.file)
        return kept

    def _rows(self, measurements: pa.RecordBatch, verdict: np.ndarray, broken: np.ndarray) -> pa.RecordBatch:
        count = len(measurements)
        known = {
            "dataset": _constant(self._job.shard.dataset, count),
            "file": _constant(self._job.shard.file, count),
            "verdict": pa.DictionaryArray.from_arrays(pa.array(verdict), VERDICTS),
            "broken": _broken_rules(*filters.reasons(measurements, self._job.rules, broken)),
        }
        columns = []
        for field in self._schema:
            if field.name in known:
                columns.append(known[field.name])
            elif field.name in measurements.schema.names:
                columns.append(measurements[field.name])
            else:
                columns.append(pa.nulls(count, field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _count(self, measurements: pa.RecordBatch, kept: np.ndarray, filtered: np.ndarray) -> None:
        sizes = measurements["bytes"].to_numpy()
        for name, mask in (("kept", kept), ("filtered", filtered)):
            self._counts[name] += int(mask.sum())
            self._counts[f"{name}_bytes"] += int(sizes[mask].sum())

    def keep_fingerprint(self) -> str:
        """The fingerprint of the kept text that follows from the verdicts so far."""
        return self._job.keep_fingerprint(self._part, self._mask.hexdigest())

    def commit(self) -> None:
        """Commits the verdicts; the kept text that they lead to must be committed before."""
        job, part = self._job, self._part
        fingerprint = job.judge_fingerprint(part)
        table = self._table.finish(job.place("signals", part, fingerprint, "parquet"))
        facts = {"keep": self.keep_fingerprint(), "dataset": job.shard.dataset}
        statistics = self._statistics.to_json()
        self._store.commit(
            Record("judge", job.unit(part), fingerprint, {"signals": table}, self._counts, facts, statistics)
        )


def _broken(measurements: pa.RecordBatch, job: Job) -> np.ndarray:
    """bool (n, rules): which rules each document breaks; one without text breaks none."""
    broken = filters.judge(measurements, job.rules)
    broken[measurements["state"].to_numpy() != State.TEXT] = False
    return broken


def keep_stored(store: Store, job: Job, part: int, measured: Record) -> str:
    """The fingerprint of the kept text that the rules lead to, from stored signals."""
    mask = MaskDigest(failing_of(measured))
    for batch in measured_and_scored(store, job, part, measured):
        mask.update((batch["state"].to_numpy() == State.TEXT) & ~_broken(batch, job).any(axis=1))
    return job.keep_fingerprint(part, mask.hexdigest())


def judge_stored(store: Store, job: Job, part: int, measured: Record) -> str | None:
    """Judges from stored signals. The fingerprint of the kept text if that is there; None if it must be made first."""
    with ExitStack() as outputs:
        judging = Judging(outputs, store, job, part, failing_of(measured))
        for batch in measured_and_scored(store, job, part, measured):
            judging.add(batch)
        keep = judging.keep_fingerprint()
        if store.find("keep", job.unit(part), keep) is None:
            return None
        judging.commit()
        return keep


def _constant(value: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))


def _broken_rules(names: list[str], broken: np.ndarray) -> pa.ListArray:
    """The names of the rules that each document breaks, from the bool matrix of shape (n, names)."""
    offsets = np.zeros(len(broken) + 1, np.int32)
    np.cumsum(broken.sum(axis=1), out=offsets[1:])
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(names, pa.string()).take(pa.array(np.nonzero(broken)[1]))
    )
