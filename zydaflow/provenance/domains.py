"""What became of the documents of each domain: a waterfall by the label `url.domain`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.errors import InputError
from zydaflow.provenance.columns import aligned
from zydaflow.provenance.figures import share
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.run import Run
from zydaflow.signals.urls import DOMAIN

OUTCOMES = ("empty", "filtered", "duplicates", "stays")
COUNTS = ("documents", "bytes", *OUTCOMES, "stays_bytes")
ROWS = 2**20  # rows of batches that are added up at a time, at least
SHOWN = 40  # domains in a terminal

Removed = dict[str, np.ndarray]  # by file: positions of duplicates, int64, ascending


def by_domain(run: Run, dataset: str | None = None) -> pa.Table:
    """A row per domain of all datasets, or of one, those with most documents first; the domain is null without a URL.

    `domain`, then int64: `documents` and `bytes` that were read, how many documents were `empty` (or had no text),
    `filtered` and `duplicates`, how many are in the corpus, or will be (`stays`), and `stays_bytes`. Records that could
    not be read are not counted. Raises InputError for a run without domains.
    """
    names = run.datasets if dataset is None else [dataset]
    if not any(DOMAIN in run.signal_columns(name) for name in names):
        raise InputError(f"{run.root}: no domains: no dataset has url: COLUMN in the recipe of this run")
    waiting: list[pa.Table] = []
    limit = ROWS
    for counts in (counts for name in names for counts in _batches(run, name)):
        waiting.append(counts)
        if sum(map(len, waiting)) > limit:
            waiting = [_added(waiting)]
            limit = max(ROWS, 2 * len(waiting[0]))
    added = _added(waiting) if waiting else _schema().empty_table()
    return added.sort_by([("documents", "descending"), ("domain", "ascending")])


def _schema() -> pa.Schema:
    return pa.schema([("domain", pa.string()), *((name, pa.int64()) for name in COUNTS)])


def _added(tables: list[pa.Table]) -> pa.Table:
    sums = pa.concat_tables(tables).group_by("domain").aggregate([(name, "sum") for name in COUNTS])
    return sums.rename_columns([name.removesuffix("_sum") for name in sums.column_names]).cast(_schema())


def _batches(run: Run, dataset: str) -> Iterator[pa.Table]:
    """The counts by domain of some documents at a time."""
    removed = _removed(run, dataset)
    for batch in run.signal_batches(dataset, [DOMAIN, "file", "position", "bytes", "verdict"]):
        verdict = batch["verdict"].cast(pa.string())
        kept, filtered = (pc.equal(verdict, label).to_numpy(zero_copy_only=False) for label in ("kept", "filtered"))
        duplicate = kept & _is_removed(batch, removed)
        stays, sizes = kept & ~duplicate, batch["bytes"].to_numpy()
        counts = (np.ones(len(batch), np.int64), sizes, ~(kept | filtered), filtered, duplicate, stays, sizes * stays)
        columns = [batch[DOMAIN].cast(pa.string()), *(pa.array(of.astype(np.int64)) for of in counts)]
        yield _added([pa.table(columns, schema=_schema())])


def _removed(run: Run, dataset: str) -> Removed:
    """Where the dataset's duplicates lie."""
    found: dict[str, list[np.ndarray]] = {}
    for batch in run.removed_batches(dataset, ["file", "position"]):
        files = batch["file"].dictionary_encode()
        codes, positions = files.indices.to_numpy(), batch["position"].to_numpy()
        for code, file in enumerate(files.dictionary.to_pylist()):
            found.setdefault(file, []).append(positions[codes == code])
    return {file: np.sort(np.concatenate(positions)) for file, positions in found.items()}


def _is_removed(batch: pa.RecordBatch, removed: Removed) -> np.ndarray:
    """bool[n]: which of the documents are among the removed ones."""
    found = np.zeros(len(batch), bool)
    codes, positions = batch["file"].indices.to_numpy(), batch["position"].to_numpy()
    for code in np.unique(codes):
        gone = removed.get(batch["file"].dictionary[code].as_py())
        if gone is not None:
            rows = np.flatnonzero(codes == code)
            places = np.minimum(np.searchsorted(gone, positions[rows]), len(gone) - 1)
            found[rows] = gone[places] == positions[rows]
    return found


def render(table: pa.Table) -> str:
    """The answer of `by_domain` for a terminal: the domains with most documents, and what the others come to."""
    rows = table.slice(0, SHOWN).to_pylist()
    if len(table) > SHOWN:
        rows.append(_sum(table.slice(SHOWN), f"{len(table) - SHOWN:,} other domains"))
    lines = [("domain", "documents", "empty", "filtered", "duplicates", "stays", "share", "text", "text stays")]
    return aligned([*lines, *map(_line, [*rows, _sum(table, "all documents")])])


def _sum(table: pa.Table, label: str) -> dict[str, Any]:
    return {"domain": label, **{name: pc.sum(table[name]).as_py() or 0 for name in COUNTS}}


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    counts = (f"{row[name]:,}" for name in ("documents", *OUTCOMES))
    stays = share(row["stays"], row["documents"])
    domain = "(no domain)" if row["domain"] is None else row["domain"]
    return (domain, *counts, stays, megabytes(row["bytes"]), megabytes(row["stays_bytes"]))
