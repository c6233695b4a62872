"""Records from Arrow columns: what Parquet and Arrow files have in common once they are read."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.sources import records
from zydaflow.sources.records import Bad, Columns
from zydaflow.sources.sample import Sample, kept
from zydaflow.sources.shard import Batch
from zydaflow.sources.values import as_metadata, as_text


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings, whatever their layout; a column of nulls counts as well."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_text(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(test(kind) for test in tests)


def read_tables(
    tables: Iterable[pa.RecordBatch], row: int, columns: Columns, sample: Sample, batch_bytes: int
) -> Iterator[Batch]:
    """The records of consecutive tables, the first of which begins at row `row` of the file."""
    for table in _gathered((_plain(table, columns) for table in tables), batch_bytes):
        sizes = pc.fill_null(pc.binary_length(table[columns.text]), 0).to_numpy()
        before = np.cumsum(sizes) - sizes
        bounds = [0, *(np.flatnonzero(np.diff(before // batch_bytes)) + 1).tolist(), len(table)]
        for low, high in pairwise(bounds):
            if low < high:
                yield _read_table(table.slice(low, high - low), row + low, columns, sample)
        row += len(table)


def _plain(table: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """The needed columns, without dictionaries and extension types, the text as large_string."""
    present = set(table.schema.names)
    arrays = []
    for name in columns.names:  # metadata may be absent in some files of a dataset
        array = table[name] if name in present else pa.nulls(len(table))
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        arrays.append(array.cast(pa.large_string()) if name == columns.text else array)
    return pa.RecordBatch.from_arrays(arrays, names=list(columns.names))


def _gathered(tables: Iterable[pa.RecordBatch], batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The same rows in tables of up to `batch_bytes`; one that is larger stays as it is, without a copy."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for table in tables:
        if waiting and size + table.nbytes > batch_bytes:
            yield pa.concat_batches(waiting)
            waiting, size = [], 0
        if table.nbytes > batch_bytes:
            yield table
        else:
            waiting.append(table)
            size += table.nbytes
    if waiting:
        yield pa.concat_batches(waiting)


def _read_table(table: pa.RecordBatch, row: int, columns: Columns, sample: Sample) -> Batch:
    positions = np.arange(row, row + len(table), dtype=np.int64)
    keep = kept(positions, sample)
    sizes = pc.fill_null(pc.binary_length(table[columns.text]), 0).to_numpy()
    bad = [
        Bad(int(positions[i]), int(sizes[i]), records.too_long(sizes[i]), _head(table[columns.text][i]))
        for i in np.flatnonzero(keep & (sizes > records.MAX_RECORD_BYTES))
    ]
    good = keep & (sizes <= records.MAX_RECORD_BYTES)
    if not good.all():
        table, positions = table.filter(pa.array(good)), positions[good]
    text, repaired = repaired_text(table[columns.text])
    ids, ids_changed = _texts(table, columns.id)
    licenses, licenses_changed = _texts(table, columns.license)
    metadata, metadata_changed = _metadata(table, columns)
    repaired |= ids_changed | licenses_changed | metadata_changed
    table = records.records_of(columns, pa.array(positions), text, ids, licenses, metadata)
    sampled_out = len(keep) - int(keep.sum())
    return Batch(0, table, records.quarantine_of(bad), sampled_out, int(repaired.sum()))


def _head(value: pa.LargeStringScalar) -> bytes:
    return value.as_buffer().slice(0, records.HEAD).to_pybytes()


def repaired_text(text: pa.LargeStringArray) -> tuple[pa.LargeStringArray, np.ndarray]:
    """The strings, with U+FFFD for what is not UTF-8 (readers do not check it), and bool[n]: which changed."""
    changed = np.zeros(len(text), np.bool_)
    try:
        text.validate(full=True)
        return text, changed
    except pa.ArrowInvalid:
        values = text.cast(pa.large_binary()).to_pylist()
        clean = [value if value is None else value.decode("utf-8", "replace").encode() for value in values]
        changed[:] = [string != value for string, value in zip(clean, values, strict=True)]
        return pa.array(clean, pa.large_binary()).cast(pa.large_string()), changed


def _texts(table: pa.RecordBatch, name: str | None) -> tuple[pa.StringArray, np.ndarray]:
    """A column of ids or licences of any type as exact text, and bool[n]: which had to be repaired."""
    column = pa.nulls(len(table)) if name is None else table[name]
    if is_text(column.type):
        text, changed = repaired_text(column.cast(pa.large_string()))
        return text.cast(pa.string()), changed
    if pa.types.is_integer(column.type):
        return column.cast(pa.string()), np.zeros(len(column), np.bool_)
    values, changed = _values(column)
    return pa.array([as_text(value) for value in values], pa.string()), changed


def _metadata(table: pa.RecordBatch, columns: Columns) -> tuple[pa.StringArray, np.ndarray]:
    """The metadata of each row as one JSON object, and bool[n]: in which rows it had to be repaired."""
    changed = np.zeros(len(table), np.bool_)
    if not columns.metadata:
        return pa.nulls(len(table), pa.string()), changed
    values = {}
    for name in columns.metadata:
        values[name], repaired = _values(table[name])
        changed |= repaired
    rows = zip(*values.values(), strict=True)
    objects = [as_metadata(dict(zip(values, row, strict=True)), columns.metadata) for row in rows]
    return pa.array(objects, pa.string()), changed


def _values(column: pa.Array) -> tuple[list[Any], np.ndarray]:
    """The column as Python values, and bool[n]: in which of them invalid UTF-8 became U+FFFD."""
    changed = np.zeros(len(column), np.bool_)
    try:
        return column.to_pylist(maps_as_pydicts="lossy"), changed
    except UnicodeDecodeError:
        values = []
        for i, scalar in enumerate(column):
            try:
                values.append(scalar.as_py(maps_as_pydicts="lossy"))
            except UnicodeDecodeError:
                values.append(_decoded(scalar))
                changed[i] = True
        return values, changed


def _decoded(scalar: pa.Scalar) -> Any:
    """A value whose strings, at whatever depth, may be invalid UTF-8."""
    if not scalar.is_valid:
        return None
    if isinstance(scalar, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return _decoded(scalar.value)
    if is_text(scalar.type):
        return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")
    if isinstance(scalar, pa.StructScalar):
        return {name: _decoded(value) for name, value in scalar.items()}
    if isinstance(scalar, pa.MapScalar):
        return {_decoded(item["key"]): _decoded(item["value"]) for item in scalar.values}
    if isinstance(scalar, pa.ListScalar):
        return [_decoded(value) for value in scalar.values]
    return scalar.as_py()
