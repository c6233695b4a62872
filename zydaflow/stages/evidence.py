"""Evidence: all removals and clusters as two Parquet files in canonical order, and what was lost to whom in numbers."""

from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ParquetFile, batches
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import decide
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

EVIDENCE_VERSION = 1
STRIDE = 1_000_000  # documents whose removals are put in order at a time


def _fingerprint(recipe: Recipe, manifest: Manifest) -> str:
    return fingerprint("evidence", EVIDENCE_VERSION, decide.fingerprint_of(recipe, manifest))


def record_of(store: Store, recipe: Recipe, manifest: Manifest) -> Record | None:
    return store.find("evidence", "evidence", _fingerprint(recipe, manifest))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The one unit, where it is to be done."""
    return [] if record_of(store, recipe, manifest) else [Unit("evidence", evidence, (recipe, path), 0)]


def evidence(store: Store, recipe: Recipe, path: str) -> Done:
    """Writes `evidence/removed.parquet` by dataset and place, and `evidence/clusters.parquet` by first document."""
    manifest = manifests.load(store, path)
    for old in list(store.records("evidence")):
        store.withdraw(old)  # its files are about to be replaced
    losses: dict[str, dict[str, list[int]]] = {}
    with ExitStack() as outputs:
        removed = ParquetFile(outputs, store, "evidence", dedup.REMOVED)
        decisions = decide.Decisions(store, recipe, manifest)
        for start in range(0, manifest.documents, STRIDE):
            rows = decisions.removed_rows(start, min(start + STRIDE, manifest.documents)).drop_columns("document")
            for batch in rows.combine_chunks().to_batches():
                removed.write(batch.cast(dedup.REMOVED))
            _add_losses(losses, rows)
        clusters = ParquetFile(outputs, store, "evidence", dedup.CLUSTERS)
        sizes = np.zeros(64, np.int64)
        for record in decide.records(store, recipe, manifest):
            for batch in batches(store, record.artefacts["clusters"]):
                clusters.write(batch)
                sizes += np.bincount(np.log2(batch["size"].to_numpy()).astype(int), minlength=64)
        artefacts = {
            "removed": removed.finish("evidence/removed.parquet"),
            "clusters": clusters.finish("evidence/clusters.parquet"),
        }
        counts = {"removed": removed.rows, "clusters": clusters.rows}
        statistics = {"losses": losses, "cluster_sizes": {str(2**k): int(n) for k, n in enumerate(sizes) if n}}
        store.commit(Record("evidence", "evidence", _fingerprint(recipe, manifest), artefacts, counts, {}, statistics))
    return Done(removed.rows, 0)


def _add_losses(losses: dict[str, dict[str, list[int]]], rows: pa.Table) -> None:
    """Adds documents and bytes per (dataset, dataset of the kept copy)."""
    grouped = rows.group_by(["dataset", "kept_dataset"]).aggregate([("bytes", "sum"), ("bytes", "count")])
    for row in grouped.to_pylist():
        pair = losses.setdefault(row["dataset"], {}).setdefault(row["kept_dataset"], [0, 0])
        pair[0] += row["bytes_count"]
        pair[1] += row["bytes_sum"]
