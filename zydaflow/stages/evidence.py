"""Evidence: all removals and clusters as two Parquet files in canonical order, and in numbers what they come to."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow import dedup, tokens
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.outcomes import DUPLICATES
from zydaflow.provenance.scratch import Scratch
from zydaflow.provenance.tables import ParquetFile, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import decide, token_counts
from zydaflow.stages import manifest as manifests
from zydaflow.stages.cluster_statistics import ClusterStatistics
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.overlap import Overlap
from zydaflow.stages.tokenize import Source
from zydaflow.stages.unit import Done, Unit

EVIDENCE_VERSION = 2
STRIDE = 1_000_000  # documents whose removals are put in order at a time


def _fingerprint(recipe: Recipe, manifest: Manifest, tokenizer: Source) -> str:
    counted_by = tokens.load(tokenizer).fingerprint if tokenizer else None
    return fingerprint("evidence", EVIDENCE_VERSION, decide.fingerprint_of(recipe, manifest), counted_by)


def record_of(store: Store, recipe: Recipe, manifest: Manifest) -> Record | None:
    """The evidence as far as it can be known now: with tokens, once all documents are tokenized or counted.

    `statistics` has `losses` {LOSER: {KEEPER: {OUTCOME: N}}}, `matches` {NAME: {OTHER: N}}, where N is
    {"documents": n, "bytes": n, "tokens": n}, without tokens while they are not known, and `clusters`, as
    ClusterStatistics tells.
    """
    tokenizer = token_counts.counted_by(store, recipe, manifest)
    return store.find("evidence", "evidence", _fingerprint(recipe, manifest, tokenizer))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The one unit, where it is to be done."""
    tokenizer = token_counts.counted_by(store, recipe, manifest)
    if store.find("evidence", "evidence", _fingerprint(recipe, manifest, tokenizer)):
        return []
    return [Unit("evidence", evidence, (recipe, path, tokenizer), 0)]


def evidence(store: Store, recipe: Recipe, path: str, tokenizer: Source) -> Done:
    """Writes `evidence/removed.parquet` by dataset and place, and `evidence/clusters.parquet` by first document.

    Tokens are null where there is no tokenizer of `token_counts.counted_by`.
    """
    manifest = manifests.load(store, path)
    for old in list(store.records("evidence")):
        store.withdraw(old)  # its files are about to be replaced
    counts = None
    if tokenizer:
        scratch = Scratch(store, recipe.resources.memory_per_task // 4)
        counts = token_counts.counts_of(store, recipe, manifest, tokenizer, scratch)
    with ExitStack() as outputs:
        removed = ParquetFile(outputs, store, "evidence", dedup.REMOVED)
        clusters = ParquetFile(outputs, store, "evidence", dedup.CLUSTERS)
        statistics = {
            "losses": removals(store, recipe, manifest, counts, removed),
            "matches": _matches(store, recipe, manifest, counts),
            "clusters": _clusters(store, recipe, manifest, clusters),
        }
        artefacts = {
            "removed": removed.finish("evidence/removed.parquet"),
            "clusters": clusters.finish("evidence/clusters.parquet"),
        }
        rows = {"removed": removed.rows, "clusters": clusters.rows}
        fp = _fingerprint(recipe, manifest, tokenizer)
        store.commit(Record("evidence", "evidence", fp, artefacts, rows, {}, statistics))
    return Done(removed.rows, 0)


def removals(
    store: Store, recipe: Recipe, manifest: Manifest, counts: np.ndarray | None, file: ParquetFile
) -> dict[str, Any]:
    """Writes all removals in order, and counts them by dataset, dataset of the kept copy, and outcome."""
    losses = Overlap(manifest.datasets, manifest.names, DUPLICATES)
    decisions = decide.Decisions(store, recipe, manifest)
    for start, stop in _strides(manifest):
        rows = decisions.removed_rows(start, stop)
        gone, kept = rows["document"].to_numpy(), rows["kept"].to_numpy()
        if counts is not None:
            for name, documents in (("tokens", gone), ("kept_tokens", kept)):
                rows = rows.set_column(rows.schema.get_field_index(name), name, _tokens(counts, documents))
        for batch in rows.select(dedup.REMOVED.names).cast(dedup.REMOVED).combine_chunks().to_batches():
            file.write(batch)
        outcomes = pc.index_in(rows["outcome"], pa.array(DUPLICATES)).to_numpy()
        places = (_datasets(manifest, gone), _datasets(manifest, kept), outcomes)
        losses.add(places, _amounts(rows["bytes"].to_numpy(), counts, gone))
    return losses.to_json()


def _matches(store: Store, recipe: Recipe, manifest: Manifest, counts: np.ndarray | None) -> dict[str, Any]:
    """Counts the documents of each dataset that are similar to some document of another, whichever of them stays."""
    matches = Overlap(manifest.datasets, manifest.names)
    tables = [read_table(store, record.artefacts["matches"]) for record in decide.records(store, recipe, manifest)]
    found = [(table["document"].to_numpy(), table["dataset"].to_numpy()) for table in tables]
    for start, stop in _strides(manifest):
        sizes = _bytes(store, manifest, start, stop)
        for numbers, datasets in found:
            low, high = np.searchsorted(numbers, [start, stop])
            documents = numbers[low:high]
            amounts = _amounts(sizes[documents - start], counts, documents)
            matches.add((_datasets(manifest, documents), datasets[low:high]), amounts)
    return matches.to_json()


def _clusters(store: Store, recipe: Recipe, manifest: Manifest, file: ParquetFile) -> dict[str, Any]:
    """Writes all clusters in order, and counts them."""
    found = ClusterStatistics(manifest.datasets)
    for record in decide.records(store, recipe, manifest):
        table = read_table(store, record.artefacts["clusters"])
        for batch in table.to_batches():
            file.write(batch)
        found.add(record, table)
    return found.to_json(store, manifest)


def _strides(manifest: Manifest) -> Iterator[tuple[int, int]]:
    for start in range(0, manifest.documents, STRIDE):
        yield start, min(start + STRIDE, manifest.documents)


def _datasets(manifest: Manifest, documents: np.ndarray) -> np.ndarray:
    """The rank of each document's dataset."""
    return np.searchsorted(manifest.bounds, documents, side="right") - 1


def _tokens(counts: np.ndarray, documents: np.ndarray) -> pa.Array:
    """int64: the tokens of each document; null for those of indexes, which nobody counted."""
    known = documents < len(counts)
    return pa.array(counts[np.where(known, documents, 0)].astype(np.int64), mask=~known)


def _amounts(sizes: np.ndarray, counts: np.ndarray | None, documents: np.ndarray) -> dict[str, np.ndarray]:
    """What the documents come to, each: bytes, and where they are known, tokens."""
    return {"bytes": sizes} | ({} if counts is None else {"tokens": counts[documents]})


def _bytes(store: Store, manifest: Manifest, start: int, stop: int) -> np.ndarray:
    """int64: the bytes of documents start … stop - 1."""
    parts = list(manifest.overlapping(start, stop))
    sizes = np.concatenate([manifests.table_of(store, part.documents)["bytes"].to_numpy() for part in parts])
    return sizes[start - parts[0].first :][: stop - start]
