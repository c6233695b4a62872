"""The columns that a dataset asks for, and their values gathered into batches of one schema."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zydaflow.sources.shard import QUARANTINE, RECORDS

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

MAX_RECORD_BYTES = 512 * 2**20  # a longer record is quarantined: its copies while it is parsed must fit in a worker
EXCERPT = 200  # characters of a bad record that are shown
HEAD = 4 * EXCERPT  # bytes that are enough for them


class Columns(NamedTuple):
    """Names of the columns to read; `license_text` is the licence of every record where it is not a column."""

    text: str
    id: str | None
    license: str | None
    license_text: str | None
    metadata: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is needed, each once."""
        wanted = (self.text, self.id, self.license, *self.metadata)
        return tuple(dict.fromkeys(name for name in wanted if name is not None))


def columns_of(dataset: "DatasetSpec") -> Columns:
    """The columns that a dataset's recipe names."""
    fixed = dataset.license is None or isinstance(dataset.license, str)
    return Columns(
        text=dataset.text,
        id=dataset.id,
        license=None if fixed else dataset.license.column,  # type: ignore[union-attr]
        license_text=dataset.license if fixed else None,  # type: ignore[arg-type]
        metadata=dataset.carried,
    )


class Bad(NamedTuple):
    """A record for the quarantine; `size` in bytes, `head` at least its first HEAD bytes."""

    position: int
    size: int
    reason: str
    head: bytes


def too_long(size: int) -> str:
    """The reason for which a record of `size` bytes is quarantined."""
    return f"the record has {size:,} bytes, the limit is {MAX_RECORD_BYTES:,}"


def quarantine_of(bad: Iterable[Bad]) -> pa.RecordBatch:
    """Bad records as a batch of schema QUARANTINE."""
    rows = [(b.position, b.size, b.reason, b.head[:HEAD].decode("utf-8", "replace")[:EXCERPT]) for b in bad]
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, QUARANTINE, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=QUARANTINE)


def records_of(
    columns: Columns, positions: pa.Array, text: pa.Array, ids: pa.Array, licenses: pa.Array, metadata: pa.Array
) -> pa.RecordBatch:
    """Equally long arrays as a batch of schema RECORDS, with the fixed licence where it is not a column."""
    if columns.license is None:
        licenses = pa.repeat(pa.scalar(columns.license_text, pa.string()), len(text))
    return pa.RecordBatch.from_arrays([positions, text, ids, licenses, metadata], schema=RECORDS)
