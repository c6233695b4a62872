"""Verification of a finished run: every file against its commit record, and the sums."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow.errors import InputError, RunError
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.run_file import FOLDERS, STATISTICS, read_run
from zydaflow.provenance.statistics import check_sums, collect
from zydaflow.storage import AnyPath, files_below, seekable

KEPT_APART = ("work/",)  # `--clean` takes it away: missing is well, damaged is not


def verify(out: AnyPath) -> list[str]:
    """What is wrong with a run, a line each; an empty list if nothing is.

    What should be there is told three times: by `run.json`, by the commit records, and by the files themselves.
    Raises InputError for a folder that holds no run.
    """
    store = Store(out)
    run = read_run(out)
    if run is None:
        raise InputError(f"{out}: no run.json that can be read, so this is no folder of a run")
    if not run["finished"]:
        return ["run.json: the run has not come to its end; `zydaflow run` goes on with it"]
    records = list(store.records())
    known = {artefact.path: artefact for record in records for artefact in record.artefacts.values()}
    return [
        *_check_records(store, run, records),
        *(problem for artefact in known.values() for problem in _check(store, artefact)),
        *(problem for record in records for problem in _check_tokens(store, record)),
        *(f"{path}: is in run.json, and in no commit record" for path, _ in run["outputs"] if path not in known),
        *(f"{path}: belongs to no commit record" for path in _extra(store, set(known))),
        *_check_statistics(out, records),
    ]


def _check_records(store: Store, run: dict[str, Any], records: list[Record]) -> Iterator[str]:
    """The commit records themselves: none torn, none missing."""
    torn = sum(name.endswith(".json") for name in files_below(store.path("commits"))) - len(records)
    if torn:
        yield f"commits/: {torn} records cannot be read"
    there = Counter(record.stage for record in records)
    for stage, count in run["records"].items():
        if there[stage] != count:
            yield f"commits/{stage}: {there[stage]} records, and run.json tells of {count}"


def _check(store: Store, artefact: Artefact) -> Iterator[str]:
    if artefact.path.startswith(KEPT_APART) and not store.path(artefact.path).exists():
        return
    try:
        data = store.map(artefact)
    except DamagedArtefact as damage:
        yield str(damage)
        return
    try:
        rows = _rows(artefact.path, data)
    except (OSError, pa.ArrowInvalid) as error:
        yield f"{artefact.path}: was not whole when it was committed ({error})"
        return
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
    shard = record.artefacts["shard"]
    try:
        with seekable(store.path(shard.path)) as file:
            batches = [b for b in pa.ipc.open_stream(file) if "input_ids" in b.schema.names]
            ids = sum(len(b["input_ids"].flatten()) for b in batches)
            told = sum(int(b["n_tokens"].to_numpy().sum()) for b in batches)
    except (OSError, pa.ArrowInvalid):
        return  # the file itself is reported by its checksum
    if not ids == told == record.counts["tokens"]:
        yield f"{shard.path}: holds {ids} tokens, its rows say {told}, its record {record.counts['tokens']}"


def _extra(store: Store, known: set[str]) -> Iterator[str]:
    for folder in FOLDERS:
        if folder == "commits":
            continue
        for name in files_below(store.path(folder)):
            if f"{folder}/{name}" not in known:
                yield f"{folder}/{name}"


def _check_statistics(out: AnyPath, records: list[Record]) -> Iterator[str]:
    """The sums, and the statistics against the records that they are made of."""
    try:
        told = waterfall.load(out)
        check_sums(told, finished=True)
    except (InputError, RunError) as error:
        yield str(error)
        return
    counted = collect(records, list(told["datasets"]))
    for key, value in counted.items():
        if told.get(key) != value:
            yield f"{STATISTICS}: {key} differs from what the commit records say"
