"""The first records of a data file, in bounded reading: its columns, and some of their texts."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from zydaflow.errors import InputError
from zydaflow.sources.arrow import arrow_schema, arrow_source, arrow_tables
from zydaflow.sources.columnar import decoded, repaired_text
from zydaflow.sources.forms import form_of
from zydaflow.sources.listing import input_file
from zydaflow.sources.open import opened
from zydaflow.sources.parquet import open_parquet
from zydaflow.sources.peek import first_records, types_of
from zydaflow.sources.scalars import is_text
from zydaflow.sources.shard import Shard

RECORDS = 20


@dataclass(frozen=True)
class Columns:
    """The columns of a file: the type of each, and for those that hold text their texts in the first records."""

    types: dict[str, str]
    texts: dict[str, list[str]]


def peek(path: Path) -> Columns:
    """The columns that the first `RECORDS` records of a file of a known form show.

    Of several columns with one name none is shown: no recipe can name them. Raises InputError or OSError where the
    file cannot be read.
    """
    file = input_file(LocalFileSystem(), path.name, str(path))
    form = form_of(path.name)
    assert form is not None  # the survey has only files of known forms
    whole = Shard("", file.url, file.file, form, 0, -1, file.size, file.version)
    return _of_columnar(whole) if form in ("parquet", "arrow") else _of_lines(whole)


def _of_lines(whole: Shard) -> Columns:
    first = first_records(whole, RECORDS)
    if first.problem is not None:
        raise InputError(f"{whole.url}: none of its first lines is a JSON object; {first.problem}")
    records = first.records[:RECORDS]
    types = types_of(records)
    texts = {
        name: [record[name] for record in records if record.get(name) is not None]
        for name, kind in types.items()
        if kind == "string"
    }
    return Columns(types, texts)


def _of_columnar(whole: Shard) -> Columns:
    with opened(whole) as file:
        schema, table = _parquet_head(whole, file) if whole.form == "parquet" else _arrow_head(whole, file)
    types = {field.name: str(field.type) for field in _single(schema)}
    return Columns(types, {name: _texts(table, name) for name in _text_names(schema)})


def _parquet_head(whole: Shard, file: BinaryIO) -> tuple[pa.Schema, pa.RecordBatch | None]:
    """The schema, and the first records of the columns of text."""
    with open_parquet(whole.url, file) as parquet:
        schema = parquet.schema_arrow
        return schema, next(parquet.iter_batches(RECORDS, columns=_text_names(schema)), None)


def _arrow_head(whole: Shard, file: BinaryIO) -> tuple[pa.Schema, pa.RecordBatch | None]:
    """As `_parquet_head`."""
    with arrow_source(whole.url, file) as source:
        schema = arrow_schema(source)
        return schema, next(arrow_tables(source, _text_names(schema), whole.url), None)


def _single(schema: pa.Schema) -> list[pa.Field]:
    """The columns whose name no other has."""
    return [field for field in schema if schema.get_field_index(field.name) >= 0]


def _text_names(schema: pa.Schema) -> list[str]:
    return [field.name for field in _single(schema) if is_text(field.type) and not pa.types.is_null(field.type)]


def _texts(table: pa.RecordBatch | None, name: str) -> list[str]:
    if table is None:
        return []
    text, _ = repaired_text(decoded(table[name].slice(0, RECORDS)).cast(pa.large_string()))
    return text.drop_null().to_pylist()
