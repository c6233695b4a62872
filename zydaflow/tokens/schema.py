"""The columns of a corpus shard, and batches of them."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from zydaflow.errors import RunError
from zydaflow.tokens.tokenizer import Encoded

MOST_VALUES = 2**31 - 1  # in one array of a list type: its offsets are int32


def token_schema(
    dtype: np.dtype | None, text: bool, signal_fields: Sequence[pa.Field], metadata: bool = False
) -> pa.Schema:
    """The schema of a shard whose ids are of `dtype` (None: without a tokenizer), as `datasets` would write it."""
    from datasets import Features  # takes half a second

    tokens = [("input_ids", pa.list_(pa.from_numpy_dtype(dtype))), ("n_tokens", pa.int64())] if dtype else []
    provenance = [
        ("source", pa.string()),  # the dataset
        ("source_id", pa.string()),  # the document's own id
        ("source_file", pa.string()),
        ("source_position", pa.int64()),
        ("text_hash", pa.string()),  # xxh3-128 of the kept text, 32 hexadecimal digits
        ("license", pa.string()),
        ("n_duplicates", pa.int64()),  # removed documents that this one stands for
        ("duplicate_sources", pa.list_(pa.string())),  # the datasets that these are from
    ]
    carried = [("metadata", pa.string())] if metadata else []
    texts = [("text", pa.large_string())] if text else []
    return Features.from_arrow_schema(pa.schema([*tokens, *provenance, *carried, *texts, *signal_fields])).arrow_schema


def token_batches(
    schema: pa.Schema,
    rows: pa.Table,
    source: str,
    encoded: Encoded | None,
    datasets: Sequence[str],
    most_values: int = MOST_VALUES,
) -> Iterator[pa.RecordBatch]:
    """The rows as batches of `schema`: one, or more where it would hold over `most_values` ids.

    `rows` has the columns id, file, position, text_hash (binary(16)), license, n_duplicates, duplicate_sources (lists
    of indices into `datasets`), and metadata, text and signals where the schema has them. Raises RunError for a
    document of more than `most_values` tokens.
    """
    columns = {
        **{name: _column(rows, name) for name in schema.names if name in rows.column_names},
        "source": pa.repeat(pa.scalar(source), len(rows)),
        **{f"source_{name}": _column(rows, name) for name in ("id", "file", "position")},
        "text_hash": hex_digests(_column(rows, "text_hash")),
        "duplicate_sources": _names(_column(rows, "duplicate_sources"), datasets),
    }
    offsets = encoded.offsets if encoded else np.zeros(len(rows) + 1, np.int64)
    for start, stop in _pieces(offsets, most_values):
        piece = {name: column.slice(start, stop - start) for name, column in columns.items()}
        if encoded:
            bounds = offsets[start : stop + 1]
            ids = pa.array(encoded.ids[bounds[0] : bounds[-1]])
            piece["input_ids"] = pa.ListArray.from_arrays(pa.array((bounds - bounds[0]).astype(np.int32)), ids)
            piece["n_tokens"] = pa.array(np.diff(bounds))
        yield pa.RecordBatch.from_arrays([piece[name] for name in schema.names], schema=schema)


def _pieces(offsets: np.ndarray, most_values: int) -> Iterator[tuple[int, int]]:
    """Rows [start, stop), as many as fit below the limit, until all are given."""
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + most_values, side="right")) - 1
        if stop == start:
            count = offsets[start + 1] - offsets[start]
            raise RunError(f"a document of {count} tokens is more than one row can hold ({most_values})")
        yield start, stop
        start = stop


def _column(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name].combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _names(indices: pa.ListArray, names: Sequence[str]) -> pa.ListArray:
    """Lists of names in place of lists of indices into them."""
    values = pa.array(names, pa.string()).take(indices.flatten())
    lengths = np.diff(indices.offsets.to_numpy())
    return pa.ListArray.from_arrays(pa.array(np.cumsum([0, *lengths], dtype=np.int32)), values)


def hex_digests(digests: pa.FixedSizeBinaryArray) -> pa.StringArray:
    """Binary digests as text, two hexadecimal digits a byte."""
    width = digests.type.byte_width
    data = np.frombuffer(digests.buffers()[1], np.uint8, len(digests) * width, digests.offset * width)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[np.stack([data >> 4, data & 15], axis=1)]
    offsets = np.arange(len(digests) + 1, dtype=np.int32) * (2 * width)
    return pa.StringArray.from_buffers(len(digests), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(digits)))
