"""The keep part of preparing: the text of the kept documents, and a table of what identifies each of them."""

from contextlib import ExitStack
from itertools import pairwise

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile
from zydaflow.sources import Batch
from zydaflow.stages.job import Job

KEPT = pa.schema([("text", pa.large_string()), ("license", pa.string()), ("metadata", pa.string())])

DOCUMENTS = pa.schema(
    [
        ("position", pa.int64()),
        ("text_hash", pa.binary(16)),  # xxh3-128 of the kept text, big-endian
        ("bytes", pa.int64()),  # of the text as loaded
        ("kept_bytes", pa.int64()),  # of the text as kept
        ("signal_row", pa.uint32()),  # the document's row in the part's signals
        ("id", pa.string()),
    ]
)


class Keeping:
    """Writes the kept documents of one part."""

    def __init__(self, outputs: ExitStack, store: Store, job: Job, part: int) -> None:
        self._store, self._job, self._part = store, job, part
        dataset = job.shard.dataset
        self._text = ArrowFile(outputs, store, f"work/kept/{dataset}", KEPT, "lz4")
        self._documents = ArrowFile(outputs, store, f"work/documents/{dataset}", DOCUMENTS)
        self._row = self._bytes = 0

    def add(
        self, batch: Batch, measurements: pa.RecordBatch, text: pa.LargeStringArray, kept: np.ndarray
    ) -> pa.LargeStringArray:
        """Writes the documents that are kept and returns their text."""
        rows = pa.array(np.flatnonzero(kept))
        text = text.take(rows)
        sizes = (
            np.diff(np.frombuffer(text.buffers()[1], np.int64, len(text) + 1, text.offset * 8))
            if len(text)
            else np.empty(0, np.int64)
        )
        columns = [text, batch.records["license"].take(rows), batch.records["metadata"].take(rows)]
        self._text.write(pa.RecordBatch.from_arrays(columns, schema=KEPT))
        documents = [
            measurements["position"].take(rows),
            text_hashes(text),
            measurements["bytes"].take(rows),
            pa.array(sizes),
            pa.array((rows.to_numpy() + self._row).astype(np.uint32)),
            measurements["id"].take(rows),
        ]
        self._documents.write(pa.RecordBatch.from_arrays(documents, schema=DOCUMENTS))
        self._row += len(kept)
        self._bytes += int(sizes.sum())
        return text

    def commit(self, fingerprint: str) -> None:
        """Commits the kept text under the fingerprint that the verdicts gave it."""
        job, part = self._job, self._part
        artefacts = {
            "text": self._text.finish(job.place("work/kept", part, fingerprint, "arrow")),
            "documents": self._documents.finish(job.place("work/documents", part, fingerprint, "arrow")),
        }
        counts = {"documents": self._documents.rows, "kept_bytes": self._bytes}
        facts = {"dataset": job.shard.dataset, "file": job.shard.file}
        self._store.commit(Record("keep", job.unit(part), fingerprint, artefacts, counts, facts))


def text_hashes(text: pa.LargeStringArray) -> pa.FixedSizeBinaryArray:
    """xxh3-128 of each document's UTF-8, big-endian, as binary(16)."""
    if len(text) == 0:
        return pa.array([], pa.binary(16))
    data = memoryview(text.buffers()[2] or b"")
    bounds = np.frombuffer(text.buffers()[1], np.int64, len(text) + 1, text.offset * 8).tolist()
    digest = xxhash.xxh3_128_digest
    joined = b"".join([digest(data[start:stop]) for start, stop in pairwise(bounds)])
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(text), [None, pa.py_buffer(joined)])
