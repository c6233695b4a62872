"""Writes a corpus shard: an Arrow IPC stream, which is the form that `datasets` memory-maps."""

from typing import Any

import numpy as np
import pyarrow as pa


class ShardWriter:
    """Writes batches to a file that is open for writing bytes. Equal batches give equal bytes."""

    def __init__(self, out: Any, schema: pa.Schema) -> None:
        self._stream = pa.ipc.new_stream(out, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Adds a batch of the writer's schema, as one record batch of the stream."""
        columns = [_settled(column) for column in batch.columns]
        self._stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))

    def finish(self) -> None:
        """Ends the stream; without a batch it is a table of zero rows. The file stays open."""
        self._stream.close()


def _settled(column: pa.Array) -> pa.Array:
    """The same values; what lies in memory under a null no longer depends on where the column comes from."""
    return column.take(pa.array(np.arange(len(column)))) if column.null_count else column
