"""The rows of an output shard: the chosen documents with everything that the shard says of them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from zydaflow.provenance.commits import Store
from zydaflow.provenance.tables import batches, read_table
from zydaflow.signals import SIGNALS
from zydaflow.stages import manifest as manifests
from zydaflow.stages.keeping import KEPT
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.previous import Found, Previous
from zydaflow.stages.runs import runs


def rows_of(
    store: Store, manifest: Manifest, chosen: pa.RecordBatch, schema: pa.Schema, signals: list[str], previous: Previous
) -> Iterator[pa.Table]:
    """The chosen documents (of SELECTION) in order, one table per record batch of the shard.

    Their columns are those of DOCUMENTS and of SELECTION, `file`, text, license and metadata, the signals, and, where
    `schema`, the shard's, has tokens, `input_ids`: null where they are to be made. Text is null where it is neither
    in the shard nor to be tokenized. Raises DamagedArtefact.
    """
    waiting: list[pa.Table] = []
    number = -1
    for low, high in runs(chosen["part"].to_numpy()):
        part = manifest.parts[chosen["part"][low].as_py()]
        for table in _rows_of_part(store, part, chosen.slice(low, high - low), schema, signals, previous):
            if waiting and table["batch"][0].as_py() != number:
                yield _joined(waiting)
            number = table["batch"][0].as_py()
            waiting.append(table)
            del table  # not to be kept beside the joined one
    if waiting:
        yield _joined(waiting)


def _joined(waiting: list[pa.Table]) -> pa.Table:
    """The tables as one; afterwards none is waiting."""
    joined = pa.concat_tables(waiting).combine_chunks()
    waiting.clear()
    return joined


def _rows_of_part(
    store: Store, part: Part, chosen: pa.RecordBatch, schema: pa.Schema, signals: list[str], previous: Previous
) -> Iterator[pa.Table]:
    """A table per record batch of the shard."""
    rows = chosen["row"].to_numpy().astype(np.int64)
    described = read_table(store, part.documents).take(pa.array(rows))
    for column in ("batch", "n_duplicates", "duplicate_sources"):
        described = described.append_column(column, chosen[column])
    measured = manifests.signals_of(store, part) if signals else None
    for name in signals:
        described = described.append_column(name, _signal(measured, name, described["signal_row"]))
    described = described.append_column("file", pa.repeat(pa.scalar(part.file), len(rows)))
    found = previous.find(part.keep, described["position"].to_numpy())
    kept = _Kept(store, part, rows[~found.known])
    ids = [schema.field("input_ids")] if "input_ids" in schema.names else []
    for low, high in runs(chosen["batch"].to_numpy()):
        table = described.slice(low, high - low)
        text = _text(kept, previous, found.of(slice(low, high)), pa.schema([*KEPT, *ids]))
        for column in text.column_names:
            table = table.append_column(column, text[column])
        yield table


def _signal(measured: pa.Table | None, name: str, rows: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    assert measured is not None
    if name not in measured.column_names:  # this dataset is not measured by it
        return pa.nulls(len(rows), SIGNALS[name].type)
    return measured[name].take(rows)


_NONE = pa.RecordBatch.from_pylist([], KEPT)


class _Kept:
    """Rows of a part's kept text, which is read once, and only where there are any, handed out in their order."""

    def __init__(self, store: Store, part: Part, rows: np.ndarray) -> None:
        self._pieces = kept_rows(store, part, rows)
        self._rest = _NONE

    def take(self, count: int) -> Iterator[pa.RecordBatch]:
        while count:
            if not len(self._rest):
                self._rest = next(self._pieces)
            piece = self._rest.slice(0, count)
            self._rest = self._rest.slice(len(piece)) if len(piece) < len(self._rest) else _NONE
            count -= len(piece)
            yield piece


def kept_rows(store: Store, part: Part, rows: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The rows (int64, ascending) of a part's kept text, in batches as they lie there; none is not read at all."""
    start = 0
    for kept in batches(store, part.text) if len(rows) else ():
        low, high = np.searchsorted(rows, [start, start + len(kept)])
        chosen, start = pa.array(rows[low:high] - start), start + len(kept)
        if high > low:
            kept = kept.take(chosen)  # what is not wanted goes at once
            yield kept


def _text(kept: _Kept, previous: Previous, found: Found, schema: pa.Schema) -> pa.Table:
    """Rows of `schema`, from where they are: those that are known from before, the others from the kept text."""
    known = found.known
    fresh = [_with(batch, schema) for batch in kept.take(int((~known).sum()))]
    old = [_with(batch, schema) for batch in previous.take(found.of(known))]
    rows = pa.Table.from_batches([*fresh, *old], schema).combine_chunks()
    if not (fresh and old):  # all are in order
        return rows
    at = np.empty(len(known), np.int64)
    at[np.concatenate([np.flatnonzero(~known), np.flatnonzero(known)])] = np.arange(len(known))
    return rows.take(pa.array(at))


def _with(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of `schema`, null where the batch has them not."""
    names = batch.schema.names
    columns = [batch[f.name] if f.name in names else pa.nulls(len(batch), f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
