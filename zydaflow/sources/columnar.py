"""Records from Arrow columns: what Parquet and Arrow files have in common once they are read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.sources import records
from zydaflow.sources.records import Bad, Columns
from zydaflow.sources.sample import Sample, kept
from zydaflow.sources.scalars import as_strings, is_text, python_values
from zydaflow.sources.shard import Batch
from zydaflow.sources.values import as_metadata, as_text


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
    """The needed columns, the text as large_string."""
    present = set(table.schema.names)
    arrays = []
    for name in columns.names:  # metadata may be absent in some files of a dataset
        array = decoded(table[name]) if name in present else pa.nulls(len(table))
        arrays.append(array.cast(pa.large_string()) if name == columns.text else array)
    return pa.RecordBatch.from_arrays(arrays, names=list(columns.names))


def decoded(array: pa.Array) -> pa.Array:
    """The column without a dictionary and an extension type; uuid stays, since its bytes are no text."""
    if isinstance(array, pa.ExtensionArray) and array.type != pa.uuid():
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


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
    long = np.flatnonzero(keep & (sizes > records.MAX_RECORD_BYTES))
    bad = _bad(table[columns.text], positions, {int(i): records.too_long(sizes[i]) for i in long})
    good = keep & (sizes <= records.MAX_RECORD_BYTES)
    if not good.all():
        table, positions = table.filter(pa.array(good)), positions[good]
    found, repaired, reasons = _records(table, positions, columns)
    if reasons:
        bad = sorted(bad + _bad(table[columns.text], positions, reasons))
        found, repaired = _without(found, repaired, reasons)
    sampled_out = len(keep) - int(keep.sum())
    return Batch(0, found, records.quarantine_of(bad), sampled_out, int(repaired.sum()))


def _records(
    table: pa.RecordBatch, positions: np.ndarray, columns: Columns
) -> tuple[pa.RecordBatch, np.ndarray, dict[int, str]]:
    """The rows as records, bool[n]: which had to be repaired, and under the index of each that is none, why."""
    reasons: dict[int, str] = {}
    text, repaired = repaired_text(table[columns.text])
    ids, ids_changed = _texts(table, columns.id, reasons)
    licenses, licenses_changed = _texts(table, columns.license, reasons)
    metadata, metadata_changed = _metadata(table, columns, reasons)
    repaired |= ids_changed | licenses_changed | metadata_changed
    return records.records_of(columns, pa.array(positions), text, ids, licenses, metadata), repaired, reasons


def _without(found: pa.RecordBatch, repaired: np.ndarray, rows: Collection[int]) -> tuple[pa.RecordBatch, np.ndarray]:
    good = np.ones(len(found), np.bool_)
    good[list(rows)] = False
    return found.filter(pa.array(good)), repaired[good]


def _bad(texts: pa.LargeStringArray, positions: np.ndarray, reasons: Mapping[int, str]) -> list[Bad]:
    """The rows under whose index there is a reason."""
    texts_of = {i: memoryview(texts[i].as_buffer() or b"") for i in reasons}
    return [
        Bad(int(positions[i]), texts_of[i].nbytes, reason, bytes(texts_of[i][: records.HEAD]))
        for i, reason in reasons.items()
    ]


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


def _texts(table: pa.RecordBatch, name: str | None, reasons: dict[int, str]) -> tuple[pa.StringArray, np.ndarray]:
    """A column of ids or licences of any type as exact text, and bool[n]: which had to be repaired."""
    column = pa.nulls(len(table)) if name is None else table[name]
    if is_text(column.type):
        text, changed = repaired_text(column.cast(pa.large_string()))
        return text.cast(pa.string()), changed
    if pa.types.is_integer(column.type):
        return column.cast(pa.string()), np.zeros(len(column), np.bool_)
    values, changed = python_values(column, reasons)
    return as_strings(values, as_text, reasons), changed


def _metadata(table: pa.RecordBatch, columns: Columns, reasons: dict[int, str]) -> tuple[pa.StringArray, np.ndarray]:
    """The metadata of each row as one JSON object, and bool[n]: in which rows it had to be repaired."""
    changed = np.zeros(len(table), np.bool_)
    if not columns.metadata:
        return pa.nulls(len(table), pa.string()), changed
    values = []
    for name in columns.metadata:
        column, repaired = python_values(table[name], reasons)
        values.append(column)
        changed |= repaired
    rows = (dict(zip(columns.metadata, row, strict=True)) for row in zip(*values, strict=True))
    return as_strings(rows, lambda row: as_metadata(row, columns.metadata), reasons), changed
