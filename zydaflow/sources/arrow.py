"""Arrow IPC files, of the stream format (as `datasets` writes) or the file format, mapped into memory where local."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO

import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.sources.columnar import read_tables
from zydaflow.sources.open import is_local, opened
from zydaflow.sources.records import Columns
from zydaflow.sources.sample import Sample
from zydaflow.sources.shard import Batch, Shard

FILE_MAGIC = b"ARROW1"


def arrow_source(url: str, file: BinaryIO) -> pa.NativeFile:
    """The bytes of the Arrow file at `url`, which `file` has open."""
    return pa.memory_map(url) if is_local(url) else pa.PythonFile(file, mode="r")


def arrow_schema(source: pa.NativeFile) -> pa.Schema:
    """The schema of either format."""
    return _reader(source, pa.ipc.IpcReadOptions()).schema


def count_batches(source: pa.NativeFile, url: str) -> int:
    """How many record batches the file holds, told from the headers alone.

    Raises InputError where a stream lacks its end mark, without which a shortened one looks whole.
    """
    reader = _reader(source, pa.ipc.IpcReadOptions())
    if isinstance(reader, pa.RecordBatchFileReader):
        return int(reader.num_record_batches)
    source.seek(0)
    messages = pa.ipc.MessageReader.open_stream(source)
    count = 0
    while True:
        end = source.tell()
        try:
            count += messages.read_next_message().type == "record batch"
        except StopIteration:
            _check_end(source, end, url)
            return count


def arrow_tables(source: pa.NativeFile, names: Iterable[str], url: str) -> Iterator[pa.RecordBatch]:
    """Every record batch, of those of the named columns that there are; each name is that of one column at most."""
    schema = arrow_schema(source)
    wanted = [i for name in names if (i := schema.get_field_index(name)) >= 0]
    reader = _reader(source, pa.ipc.IpcReadOptions(included_fields=wanted))
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
        return
    while True:
        end = source.tell()
        try:
            yield reader.read_next_batch()
        except StopIteration:
            _check_end(source, end, url)
            return


def read_arrow(shard: Shard, columns: Columns, sample: Sample, batch_bytes: int) -> Iterator[Batch]:
    """The records of the record batches [start, stop) of an Arrow file."""
    with opened(shard) as file, arrow_source(shard.url, file) as source:
        tables = arrow_tables(source, columns.names, shard.url)
        row = sum(len(table) for table in islice(tables, shard.start))
        wanted = islice(tables, shard.stop - shard.start) if shard.stop >= 0 else tables
        yield from read_tables(wanted, row, columns, sample, batch_bytes)


def _reader(
    source: pa.NativeFile, options: pa.ipc.IpcReadOptions
) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    source.seek(0)
    is_file = source.read(len(FILE_MAGIC)) == FILE_MAGIC
    source.seek(0)
    return pa.ipc.open_file(source, options=options) if is_file else pa.ipc.open_stream(source, options=options)


def _check_end(source: pa.NativeFile, end: int, url: str) -> None:
    """Raises InputError unless the last message, which ended at `end`, is followed by an end mark and nothing else."""
    if source.tell() == end:
        raise InputError(
            f"{url}: the Arrow stream has no end mark: the file is cut short, or was never finished. Write it again."
        )
    if source.tell() != source.size():
        raise InputError(
            f"{url}: data follow the end of the Arrow stream at byte {source.tell():,}; give each stream a file."
        )
