"""The sketch part of preparing: kept text → MinHash signatures, one row per kept document."""

from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, batches
from zydaflow.stages.job import Job

BLOCK = 65_536  # documents whose signatures lie together


def signature_schema(permutations: int) -> pa.Schema:
    """`signature` holds the values of datasketch's affine32; `n_words` is 0 where there is nothing to compare."""
    return pa.schema([("n_words", pa.int64()), ("signature", pa.list_(pa.uint32(), permutations))])


class Sketching:
    """Writes the signatures of one part."""

    def __init__(self, outputs: ExitStack, store: Store, job: Job, part: int) -> None:
        assert job.recipe.dedup is not None
        self._store, self._job, self._part = store, job, part
        self._spec = job.recipe.dedup
        self._schema = signature_schema(self._spec.permutations)
        self._table = ArrowFile(outputs, store, f"work/signatures/{job.shard.dataset}", self._schema)
        self._waiting: list[dedup.Sketch] = []
        self._count = self._wordless = 0

    def add(self, text: pa.LargeStringArray) -> None:
        """Sketches some documents."""
        sketch = dedup.sketch(text, self._spec.shingle, self._spec.permutations, self._job.recipe.seed)
        self._waiting.append(sketch)
        self._count += len(sketch.n_words)
        self._wordless += int((sketch.n_words == 0).sum())
        if self._count >= BLOCK:
            self._flush()

    def _flush(self) -> None:
        if not self._count:
            return
        words = np.concatenate([s.n_words for s in self._waiting])
        values = np.concatenate([s.signatures for s in self._waiting]).reshape(-1)
        signatures = pa.FixedSizeListArray.from_arrays(pa.array(values), self._spec.permutations)
        self._table.write(pa.RecordBatch.from_arrays([pa.array(words), signatures], schema=self._schema))
        self._waiting, self._count = [], 0

    def commit(self, keep_fingerprint: str) -> None:
        """Commits the signatures of the kept text of this fingerprint."""
        self._flush()
        job, part = self._job, self._part
        fingerprint = job.sketch_fingerprint(keep_fingerprint)
        table = self._table.finish(job.place("work/signatures", part, fingerprint, "arrow"))
        counts = {"documents": self._table.rows, "wordless": self._wordless}
        self._store.commit(
            Record("sketch", job.unit(part), fingerprint, {"signatures": table}, counts, {"dataset": job.shard.dataset})
        )


def sketch_stored(store: Store, job: Job, part: int, kept: Record) -> None:
    """Sketches the kept text of an earlier time."""
    with ExitStack() as outputs:
        sketching = Sketching(outputs, store, job, part)
        for batch in batches(store, kept.artefacts["text"]):
            sketching.add(batch["text"])
        sketching.commit(kept.fingerprint)
