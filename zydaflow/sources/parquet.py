"""Parquet files: row groups, of which only the needed columns are read, page by page."""

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow.sources.columnar import read_tables
from zydaflow.sources.open import is_local, opened
from zydaflow.sources.records import Columns
from zydaflow.sources.sample import Sample
from zydaflow.sources.shard import Batch, Shard

BUFFER = 2**20  # bytes read ahead of each column, instead of the column's whole share of a row group
REMOTE_BUFFER = 2**23


def open_parquet(url: str, file: BinaryIO) -> pq.ParquetFile:
    """The Parquet file at `url`, which `file` has open; raises pyarrow's errors where it is none."""
    local = is_local(url)
    return pq.ParquetFile(
        url if local else file,
        pre_buffer=False,
        buffer_size=BUFFER if local else REMOTE_BUFFER,
        page_checksum_verification=True,
    )


def group_sizes(metadata: pq.FileMetaData, names: tuple[str, ...]) -> list[int]:
    """Of each row group, the bytes of these columns once they are uncompressed."""
    sizes = []
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        chunks = [group.column(j) for j in range(group.num_columns)]
        sizes.append(sum(c.total_uncompressed_size for c in chunks if _is_of(c.path_in_schema, names)))
    return sizes


def _is_of(path: str, names: tuple[str, ...]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)


def read_parquet(shard: Shard, columns: Columns, sample: Sample, batch_bytes: int) -> Iterator[Batch]:
    """The records of the row groups [start, stop) of a Parquet file."""
    with opened(shard, cache="none") as file, open_parquet(shard.url, file) as parquet:
        row = sum(parquet.metadata.row_group(i).num_rows for i in range(shard.start))
        yield from read_tables(_tables(parquet, shard, columns, batch_bytes), row, columns, sample, batch_bytes)


def _tables(parquet: pq.ParquetFile, shard: Shard, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    sizes = group_sizes(parquet.metadata, columns.names)
    for i in range(shard.start, shard.stop):
        rows = parquet.metadata.row_group(i).num_rows
        step = max(1, rows * batch_bytes // max(1, sizes[i]))
        yield from parquet.iter_batches(min(step, max(1, rows)), [i], list(columns.names), use_threads=False)
