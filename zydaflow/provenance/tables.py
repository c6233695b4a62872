"""Tables as committed files: Arrow IPC files for our own stages, Parquet for people, written batch by batch."""

from collections.abc import Iterator
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow.provenance.commits import Artefact, DamagedArtefact, Store

ROW_GROUP = 65_536
DICTIONARY_BYTES = 32_768  # enough for names; one of hashes, ids or positions costs a tenth of time and size


class ArrowFile:
    """An Arrow IPC file being written; its batches can be read one by one, and memory-mapped if not compressed."""

    def __init__(
        self, outputs: ExitStack, store: Store, folder: str, schema: pa.Schema, compression: str | None = None
    ) -> None:
        self._out = outputs.enter_context(store.create(folder))
        self._writer = pa.ipc.new_file(self._out, schema, options=pa.ipc.IpcWriteOptions(compression=compression))
        self.rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)
        self.rows += len(batch)

    def finish(self, relative: str) -> Artefact:
        """Ends the file and gives it its name."""
        self._writer.close()
        return self._out.finish(relative, self.rows)


class ParquetFile:
    """A Parquet file (zstd) being written, in row groups of `ROW_GROUP` rows whatever the size of the batches."""

    def __init__(self, outputs: ExitStack, store: Store, folder: str, schema: pa.Schema) -> None:
        self._out = outputs.enter_context(store.create(folder))
        self._writer = pq.ParquetWriter(
            self._out, schema, compression="zstd", compression_level=1, dictionary_pagesize_limit=DICTIONARY_BYTES
        )
        outputs.callback(self._writer.close)  # while its file is still there, should the work be given up
        self._waiting: list[pa.RecordBatch] = []
        self._schema, self._count = schema, 0
        self.rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._count += len(batch)
        self.rows += len(batch)
        if self._count >= ROW_GROUP:
            table = pa.Table.from_batches(self._waiting, self._schema)
            for start in range(0, self._count - ROW_GROUP + 1, ROW_GROUP):
                self._writer.write_table(table.slice(start, ROW_GROUP).combine_chunks())
            self._waiting = table.slice(self._count - self._count % ROW_GROUP).to_batches()
            self._count %= ROW_GROUP

    def finish(self, relative: str) -> Artefact:
        """Ends the file and gives it its name."""
        if self._count:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema).combine_chunks())
        self._writer.close()
        return self._out.finish(relative, self.rows)


def open_arrow(store: Store, artefact: Artefact) -> pa.ipc.RecordBatchFileReader:
    """A committed Arrow IPC file, memory-mapped. Raises DamagedArtefact."""
    try:
        return pa.ipc.open_file(store.map(artefact))
    except pa.ArrowInvalid as error:
        raise DamagedArtefact(artefact.path, f"is no whole Arrow file ({error})") from error


def batches(store: Store, artefact: Artefact) -> Iterator[pa.RecordBatch]:
    """The batches of a committed Arrow IPC file, one at a time."""
    reader = open_arrow(store, artefact)
    for index in range(reader.num_record_batches):
        yield reader.get_batch(index)


def read_table(store: Store, artefact: Artefact) -> pa.Table:
    """A committed Arrow IPC file whole, without a copy where it is not compressed."""
    return open_arrow(store, artefact).read_all()
