"""The fixed rule by which a dataset's documents are cut into output shards and record batches."""

import numpy as np

BATCH_BYTES = 8 << 20  # of text in a record batch: enough to be fast, little enough to hold
BATCH_ROWS = 10_000


class Cutter:
    """Cuts a dataset's survivors, given in canonical order and in pieces of any size.

    A document belongs to the shard in whose `shard_bytes` of text it begins, and there to the batch in whose
    `batch_bytes` it begins; every `BATCH_ROWS` documents of the dataset a batch ends too. Numbers without a document
    (inside a longer one) are left out. Only the documents' lengths matter, so any division into pieces gives the same.
    """

    def __init__(self, shard_bytes: int, batch_bytes: int = BATCH_BYTES) -> None:
        self._shard_bytes, self._batch_bytes = shard_bytes, batch_bytes
        self._bytes = self._rows = 0  # before the next document
        self._cell = np.full((3, 1), -1, np.int64)  # of the last document: span of the shard, of the batch, of rows
        self._shard = self._batch = -1  # of the last document, in the dataset
        self._first = 0  # the batch that began its shard

    def cut(self, text_bytes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per document (n lengths in bytes), int64: the number of its shard, and of its batch in that shard, from 0."""
        count = len(text_bytes)
        ends = self._bytes + np.cumsum(text_bytes, dtype=np.int64)
        starts = ends - text_bytes
        rows = self._rows + np.arange(count)
        cells = np.stack(
            [starts // self._shard_bytes, starts % self._shard_bytes // self._batch_bytes, rows // BATCH_ROWS]
        )
        changes = np.diff(cells, axis=1, prepend=self._cell) != 0
        shards = self._shard + np.cumsum(changes[0])
        batches = self._batch + np.cumsum(changes.any(axis=0))
        first = np.maximum.accumulate(np.where(changes[0], batches, self._first))
        if count:
            self._bytes, self._rows = int(ends[-1]), self._rows + count
            self._cell = cells[:, -1:]
            self._shard, self._batch, self._first = int(shards[-1]), int(batches[-1]), int(first[-1])
        return shards, batches - first
