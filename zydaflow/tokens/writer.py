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
        # Gathered anew, since Arrow also writes what lies under nulls and around slices.
        self._stream.write_batch(batch.take(pa.array(np.arange(len(batch)))))

    def finish(self) -> None:
        """Ends the stream; without a batch it is a table of zero rows. The file stays open."""
        self._stream.close()
