"""Verification of a finished run: every file against its commit record, and the sums."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow.errors import InputError, RunError
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.statistics import check_sums

FOLDERS = ("corpus", "signals", "evidence", "quarantine", "report", "work")
KEPT_APART = ("work/",)  # `--clean` takes it away: missing is well, damaged is not


def verify(out: str | Path) -> list[str]:
    """What is wrong with a run, a line each; an empty list if nothing is.

    Raises InputError for a folder that holds no finished run.
    """
    store = Store(out)
    if not store.path("run.json").exists():
        raise InputError(f"{out}: no run.json, so this is no folder of a finished run")
    records = list(store.records())
    torn = sum(1 for _ in store.root.glob("commits/*/*.json")) - len(records)
    problems = [f"commits/: {torn} records cannot be read"] if torn else []
    known: set[str] = set()
    for record in records:
        for artefact in record.artefacts.values():
            if artefact.path not in known:
                known.add(artefact.path)
                problems += _check(store, artefact)
        problems += _check_tokens(store, record)
    problems += [f"{path}: belongs to no commit record" for path in _extra(store, known)]
    return [*problems, *_check_statistics(out)]


def _check(store: Store, artefact: Artefact) -> Iterator[str]:
    if artefact.path.startswith(KEPT_APART) and not store.path(artefact.path).exists():
        return
    try:
        data = store.map(artefact)
    except DamagedArtefact as damage:
        yield str(damage)
        return
    rows = _rows(artefact.path, data)
    if rows is not None and rows != artefact.rows:
        yield f"{artefact.path}: has {rows} rows, not {artefact.rows}"


def _rows(path: str, data: pa.Buffer) -> int | None:
    """Rows as the file itself has them; None for a file without rows."""
    if path.endswith(".parquet"):
        return pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows
    if path.startswith("corpus/") and path.endswith(".arrow"):
        return sum(len(batch) for batch in pa.ipc.open_stream(data))
    return None


def _check_tokens(store: Store, record: Record) -> Iterator[str]:
    """The tokens of a corpus shard: the record's count against the rows' own."""
    if record.stage != "tokenize":
        return
    path = store.path(record.artefacts["shard"].path)
    try:
        with pa.memory_map(str(path)) as file:
            batches = [b for b in pa.ipc.open_stream(file) if "input_ids" in b.schema.names]
            ids = sum(len(b["input_ids"].flatten()) for b in batches)
            told = sum(int(b["n_tokens"].to_numpy().sum()) for b in batches)
    except (OSError, pa.ArrowInvalid):
        return  # the file itself is reported by its checksum
    if not ids == told == record.counts["tokens"]:
        shard, counted = record.artefacts["shard"], record.counts["tokens"]
        yield f"{shard.path}: holds {ids} tokens, its rows say {told}, its record {counted}"


def _extra(store: Store, known: set[str]) -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted(store.path(folder).rglob("*")):
            relative = path.relative_to(store.root).as_posix()
            if path.is_file() and relative not in known:
                yield relative


def _check_statistics(out: str | Path) -> Iterator[str]:
    try:
        check_sums(waterfall.load(out), finished=False)
    except (InputError, RunError) as error:
        yield str(error)
