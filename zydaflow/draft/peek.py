"""The first records of a data file, in bounded reading: its columns, and some of their texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import orjson
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from zydaflow.sources.decompress import gzip_blocks, zstd_blocks
from zydaflow.sources.forms import form_of

RECORDS = 20
MAX_BYTES = 2**24  # of decompressed JSONL; more than one long document, less than a noticeable wait
_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "object"}


@dataclass(frozen=True)
class Columns:
    """The columns of a file: the type of each, and for those that hold text their texts in the first records."""

    types: dict[str, str]
    texts: dict[str, list[str]]


def peek(path: Path) -> Columns:
    """The columns that the first `RECORDS` records of a file of a known form show.

    Raises ValueError (of which pa.ArrowInvalid is one) or OSError where the file cannot be read.
    """
    form = form_of(path.name)
    if form == "parquet":
        return _of_parquet(path)
    if form == "arrow":
        return _of_arrow(path)
    with path.open("rb") as file:
        records = list(islice(_json_records(_blocks(file, form)), RECORDS))
    if not records and path.stat().st_size:
        raise ValueError("none of its first lines is a JSON object")
    return _of_records(records)


def _blocks(file: BinaryIO, form: str | None) -> Iterator[bytes]:
    if form == "jsonl.gz":
        return gzip_blocks(file, 2**20)
    if form == "jsonl.zst":
        return zstd_blocks(file)
    return iter(lambda: file.read(2**20), b"")


def _json_records(blocks: Iterator[bytes]) -> Iterator[dict]:
    """The JSON objects among the lines of the first `MAX_BYTES`; what is none, the run will quarantine."""
    unfinished, size = b"", 0
    for block in blocks:
        size += len(block)
        *lines, unfinished = (unfinished + block).split(b"\n")
        yield from _parsed(lines)
        if size >= MAX_BYTES:
            return
    yield from _parsed([unfinished])


def _parsed(lines: list[bytes]) -> Iterator[dict]:
    for line in lines:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def _of_records(records: list[dict]) -> Columns:
    names = list(dict.fromkeys(name for record in records for name in record))
    values = {name: [record[name] for record in records if record.get(name) is not None] for name in names}
    kinds = {name: sorted({_JSON_TYPES[type(value)] for value in values[name]}) for name in names}
    return Columns(
        {name: " or ".join(kinds[name]) or "null" for name in names},
        {name: values[name] for name in names if kinds[name] == ["string"]},
    )


def _of_parquet(path: Path) -> Columns:
    with pq.ParquetFile(path, buffer_size=2**20) as file:  # the buffer bounds what is read of a column
        schema = file.schema_arrow
        batch = next(file.iter_batches(RECORDS, columns=_text_columns(schema)), None)
        return _of_batch(schema, batch)


def _of_arrow(path: Path) -> Columns:
    with pa.memory_map(str(path)) as file:
        try:
            reader = pa.ipc.open_stream(file)
            batch = next(iter(reader), None)
        except pa.ArrowInvalid:
            reader = pa.ipc.open_file(file)
            batch = reader.get_batch(0) if reader.num_record_batches else None
        return _of_batch(reader.schema, batch)


def _of_batch(schema: pa.Schema, batch: pa.RecordBatch | None) -> Columns:
    rows = schema.empty_table() if batch is None else batch.slice(0, RECORDS)
    texts = {name: rows.column(name).drop_null().to_pylist() for name in _text_columns(schema)}
    return Columns({field.name: str(field.type) for field in schema}, texts)


def _text_columns(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
