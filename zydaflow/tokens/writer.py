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
        columns = [column if _is_whole(column) else _gathered(column) for column in batch.columns]
        self._stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))

    def finish(self) -> None:
        """Ends the stream; without a batch it is a table of zero rows. The file stays open."""
        self._stream.close()


def _gathered(column: pa.Array) -> pa.Array:
    """The column anew, since Arrow also writes what lies under nulls and around slices."""
    return column.take(pa.array(np.arange(len(column))))


def _is_whole(column: pa.Array) -> bool:
    """Whether texts or lists of numbers, which may be large, have nothing under nulls and around them."""
    last_offset = 8 if pa.types.is_large_string(column.type) else 4 if pa.types.is_list(column.type) else None
    around = column.get_total_buffer_size() - column.nbytes  # which does not count the last offset
    return not column.null_count and around == last_offset
