"""The measure part of preparing: raw records → signals of all documents, the quarantine, and the transformed text."""

from collections.abc import Iterator
from contextlib import ExitStack
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from zydaflow import signals, transforms
from zydaflow.kernels.characters import blank
from zydaflow.kernels.text import from_arrow
from zydaflow.provenance.commits import Artefact, Record, Store
from zydaflow.provenance.tables import ArrowFile, ParquetFile, batches
from zydaflow.signals import SIGNALS
from zydaflow.sources import QUARANTINE, Batch
from zydaflow.stages.aside import Failing
from zydaflow.stages.job import Job

EXCERPT = 160  # characters of every document that can be looked at without its text


class State(IntEnum):
    """What a record holds: text, no text at all, or nothing but white space after the transforms."""

    TEXT = 0
    NULL = 1
    EMPTY = 2


def measured_schema(names: tuple[str, ...]) -> pa.Schema:
    """One row per record that was read."""
    fields = [
        ("position", pa.int64()),
        ("id", pa.string()),
        ("license", pa.string()),
        ("bytes", pa.int64()),  # UTF-8 bytes of the text as loaded
        ("state", pa.uint8()),
        ("excerpt", pa.large_string()),
    ]
    return pa.schema(fields + [(name, SIGNALS[name].type) for name in names])


class Measuring:
    """Measures one part, or takes its signals from the record of an earlier time."""

    def __init__(self, outputs: ExitStack, store: Store, job: Job, part: int, measured: Record | None) -> None:
        self._store, self._job, self._part = store, job, part
        self._schema = measured_schema(job.measured_names)
        self._stored = _Rows(batches(store, measured.artefacts["signals"])) if measured else None
        self._outputs = outputs
        self._table = None if measured else ArrowFile(outputs, store, self._folder("work/signals"), self._schema, "lz4")
        self._quarantine: ParquetFile | None = None
        self._sizes, self._texts = xxhash.xxh3_128(), xxhash.xxh3_128()
        names = [
            "read",
            "read_bytes",
            "null",
            "empty",
            "empty_bytes",
            "unreadable",
            "unreadable_bytes",
            "unprocessed",
            "sampled_out",
            "repaired",
        ]
        self._counts = dict.fromkeys(names, 0)

    def _folder(self, area: str) -> str:
        return f"{area}/{self._job.shard.dataset}"

    def add(self, batch: Batch) -> tuple[pa.RecordBatch, pa.LargeStringArray]:
        """The batch's measurements (of `measured_schema`) and its transformed text, row by row."""
        raw = batch.records["text"]
        text = transforms.apply(self._job.transform, raw)
        if self._stored is not None:
            return self._stored.take(len(raw)), text
        measurements = self._measure(batch, raw, text)
        assert self._table is not None
        self._table.write(measurements)
        self._count(batch, measurements)
        return measurements, text

    def _measure(self, batch: Batch, raw: pa.LargeStringArray, text: pa.LargeStringArray) -> pa.RecordBatch:
        view = from_arrow(raw)
        state = np.where(blank(from_arrow(text)), State.EMPTY, State.TEXT).astype(np.uint8)
        state[raw.is_null().to_numpy(zero_copy_only=False)] = State.NULL
        self._sizes.update(np.diff(view.offsets).data)
        self._texts.update(view.data[view.offsets[0] : view.offsets[-1]].data)
        columns = [
            batch.records["position"],
            batch.records["id"],
            batch.records["license"],
            pa.array(np.diff(view.offsets)),
            pa.array(state),
            pc.utf8_slice_codeunits(raw, 0, EXCERPT),
        ]
        names, resources = self._job.measured_names, self._job.resources
        given = signals.measure_records(names, batch.records["metadata"], self._job.dataset.url, resources)
        values = signals.measure(names, raw, text, resources, given)
        return pa.RecordBatch.from_arrays(columns + values.columns, schema=self._schema)

    def _count(self, batch: Batch, measurements: pa.RecordBatch) -> None:
        counts, bad = self._counts, batch.quarantine
        sizes, state = measurements["bytes"].to_numpy(), measurements["state"].to_numpy()
        counts["read"] += len(measurements) + len(bad)
        counts["read_bytes"] += int(sizes.sum())
        counts["null"] += int((state == State.NULL).sum())
        counts["empty"] += int((state == State.EMPTY).sum())
        counts["empty_bytes"] += int(sizes[state == State.EMPTY].sum())
        counts["unreadable"] += len(bad)
        counts["unreadable_bytes"] += pc.sum(bad["bytes"]).as_py() or 0
        counts["sampled_out"] += batch.sampled_out
        counts["repaired"] += batch.repaired
        if len(bad):
            self._quarantined(bad)

    def _quarantined(self, bad: pa.RecordBatch) -> None:
        if self._quarantine is None:
            schema = pa.schema([("dataset", pa.string()), ("file", pa.string()), *QUARANTINE])
            self._quarantine = ParquetFile(self._outputs, self._store, self._folder("quarantine"), schema)
        place = [pa.array([value] * len(bad)) for value in (self._job.shard.dataset, self._job.shard.file)]
        names = ["dataset", "file", *QUARANTINE.names]
        self._quarantine.write(pa.RecordBatch.from_arrays(place + bad.columns, names=names))

    def commit(self, following: int | None, failing: Failing) -> None:
        """Commits the signals, naming the part that follows and the documents that were set aside.

        Nothing to do where they were there before.
        """
        if self._table is None:
            return
        job, part = self._job, self._part
        fingerprint = job.measure_fingerprint(part)
        artefacts: dict[str, Artefact] = {
            "signals": self._table.finish(job.place("work/signals", part, fingerprint, "arrow"))
        }
        if self._quarantine is not None:
            artefacts["quarantine"] = self._quarantine.finish(job.place("quarantine", part, fingerprint, "parquet"))
        facts = {
            "next": following,
            "dataset": job.shard.dataset,
            "file": job.shard.file,
            "digest": xxhash.xxh3_128_hexdigest(self._sizes.digest() + self._texts.digest()),
            "batch_bytes": job.batch_bytes,  # by which the batches of the part's files follow
            "unprocessed": sorted(failing.items()),
        }
        self._counts["unprocessed"] = len(failing)
        self._store.commit(Record("measure", job.unit(part), fingerprint, artefacts, self._counts, facts))


class _Rows:
    """Rows of a stored table, handed out in the order in which they were written."""

    def __init__(self, source: Iterator[pa.RecordBatch]) -> None:
        self._source, self._rest = source, next(source, None)

    def take(self, count: int) -> pa.RecordBatch:
        taken: list[pa.RecordBatch] = []
        while count and self._rest is not None:
            piece = self._rest.slice(0, count)
            taken.append(piece)
            count -= len(piece)
            self._rest = self._rest.slice(len(piece)) if len(piece) < len(self._rest) else next(self._source, None)
        if count:
            raise ValueError(f"{count} rows fewer than the input has now: the input changed while it was read")
        return taken[0] if len(taken) == 1 else pa.concat_batches(taken)
