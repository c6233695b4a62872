"""Decide: clusters and signatures → who stays, who goes and for whom, by partition."""

from contextlib import ExitStack
from functools import cached_property

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import cluster, gather
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.match import split
from zydaflow.stages.unit import Done, Unit

DECIDE_VERSION = 2

NUMBER = pa.field("document", pa.int64())
REMOVED = pa.schema([NUMBER, *dedup.REMOVED], dedup.REMOVED.metadata)  # ascending by number
KEEPERS = pa.schema([NUMBER, ("n_duplicates", pa.int64()), ("sources", pa.list_(pa.uint16()))])  # ascending by number


def fingerprint_of(recipe: Recipe, manifest: Manifest) -> str:
    """Of all decisions."""
    assert recipe.dedup is not None
    rule = recipe.dedup.model_dump(mode="json", include={"threshold", "passes", "verify", "compare_limit"})
    return fingerprint("decide", DECIDE_VERSION, cluster.fingerprint_of(recipe, manifest), manifest.fingerprint, rule)


def records(store: Store, recipe: Recipe, manifest: Manifest) -> list[Record]:
    """The decisions of all partitions, in the order of their clusters' first documents."""
    clustered = cluster.record_of(store, recipe, manifest)
    assert clustered is not None
    fp, found = fingerprint_of(recipe, manifest), []
    for partition in range(clustered.counts["partitions"]):
        record = store.find("decide", f"decide/{partition}", fp)
        assert record is not None, f"partition {partition} is not decided"
        found.append(record)
    return found


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Partitions to decide about."""
    clustered = cluster.record_of(store, recipe, manifest)
    assert clustered is not None
    fp = fingerprint_of(recipe, manifest)
    return [
        Unit(f"decide/{partition}", decide, (recipe, path, partition), 0)
        for partition in range(clustered.counts["partitions"])
        if store.find("decide", f"decide/{partition}", fp) is None
    ]


def decide(store: Store, recipe: Recipe, path: str, partition: int) -> Done:
    """Decides about the clusters of one partition."""
    assert recipe.dedup is not None
    manifest = manifests.load(store, path)
    clustered = cluster.record_of(store, recipe, manifest)
    assert clustered is not None
    numbers, offsets = cluster.members_of(store, clustered, partition)
    members, documents, sets = _members(store, recipe, manifest, partition, numbers, offsets)
    decision = dedup.decide(members, recipe.dedup, *split(recipe.dedup), sets)
    removed = dedup.removed_table(documents, members, decision)
    removed = removed.add_column(0, NUMBER, pa.array(numbers[decision.removed])).sort_by("document")
    tables = {
        "removed": removed.cast(REMOVED),
        "clusters": dedup.clusters_table(documents, members, decision),
        "keepers": _keepers(numbers, members, decision),
    }
    fp = fingerprint_of(recipe, manifest)
    with ExitStack() as outputs:
        artefacts = {}
        for name, table in tables.items():
            file = ArrowFile(outputs, store, "work/decide", table.schema)
            for batch in table.combine_chunks().to_batches():
                file.write(batch)
            artefacts[name] = file.finish(f"work/decide/{partition:06d}.{name}.{fp[:12]}.arrow")
        counts = {"members": len(numbers), "removed": len(removed), "compare_limit_met": int(decision.limit_met.sum())}
        store.commit(Record("decide", f"decide/{partition}", fp, artefacts, counts))
    return Done(len(numbers), 0)


def _members(
    store: Store, recipe: Recipe, manifest: Manifest, partition: int, numbers: np.ndarray, offsets: np.ndarray
) -> tuple[dedup.Members, pa.Table, dedup.ShingleSets | None]:
    """What is known of a partition's documents, in the order of the clusters."""
    assert recipe.dedup is not None
    values = manifests.signatures_of(store, manifest, numbers, recipe.dedup.permutations)
    documents = manifests.documents_of(store, manifest, numbers)
    sets = None
    if recipe.dedup.verify == "exact":
        back = np.empty(len(numbers), np.int64)
        back[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
        texts = gather.texts_of(store, recipe, manifest, partition).take(pa.array(back))
        sets = dedup.shingle_sets(texts, recipe.dedup.shingle)
    dataset = (np.searchsorted(manifest.bounds, numbers, side="right") - 1).astype(np.int32)
    hashes = np.frombuffer(documents["text_hash"].chunk(0).buffers()[1], np.uint8).reshape(-1, 16)
    order = dedup.keeper_order(offsets, dataset, *dedup.hash_keys(hashes), numbers)
    return dedup.Members(offsets, order, dataset, values), documents, sets


def _keepers(numbers: np.ndarray, members: dedup.Members, decision: dedup.Decision) -> pa.Table:
    """The documents that others went for: how many, and from which datasets."""
    removed = decision.removed
    pairs, repeats = np.unique(numbers[decision.kept[removed]] << 16 | members.dataset[removed], return_counts=True)
    keepers, starts = np.unique(pairs >> 16, return_index=True)
    counts = np.add.reduceat(repeats, starts)
    offsets = np.append(starts, len(pairs)).astype(np.int32)
    sources = pa.ListArray.from_arrays(pa.array(offsets), pa.array((pairs & 0xFFFF).astype(np.uint16)))
    return pa.table([pa.array(keepers), pa.array(counts), sources], KEEPERS)


class Decisions:
    """All decisions of a run, for readers who go through the documents in the order of their numbers."""

    def __init__(self, store: Store, recipe: Recipe, manifest: Manifest) -> None:
        self._store = store
        self._records = records(store, recipe, manifest) if recipe.dedup else []

    @cached_property
    def _tables(self) -> list[tuple[pa.Table, pa.Table]]:
        return [
            (read_table(self._store, record.artefacts["removed"]), read_table(self._store, record.artefacts["keepers"]))
            for record in self._records
        ]

    def removed_rows(self, start: int, stop: int) -> pa.Table:
        """The rows (REMOVED) of the removals among documents start … stop - 1, by number."""
        pieces = [_between(removed, start, stop) for removed, _ in self._tables]
        return pa.concat_tables(pieces).sort_by("document") if pieces else REMOVED.empty_table()

    def removed(self, start: int, stop: int) -> np.ndarray:
        """int64: the removed documents among start … stop - 1."""
        pieces = [
            _between(removed.select(["document"]), start, stop)["document"].to_numpy() for removed, _ in self._tables
        ]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def duplicates(self, documents: np.ndarray) -> tuple[np.ndarray, pa.ListArray]:
        """For ascending documents: int64, how many went for each, and the datasets that those came from, by rank."""
        counts = np.zeros(len(documents), np.int64)
        pieces = [_between(keepers, int(documents[0]), int(documents[-1]) + 1) for _, keepers in self._tables]
        found = pa.concat_tables(pieces).sort_by("document") if pieces else KEEPERS.empty_table()
        numbers = found["document"].to_numpy()
        at = np.searchsorted(documents, numbers)
        counts[at] = found["n_duplicates"].to_numpy()
        sources = found["sources"].combine_chunks()
        sizes = np.zeros(len(documents) + 1, np.int32)
        if len(found):
            lengths = np.diff(sources.offsets.to_numpy())
            sizes[at + 1] = lengths
        flat = sources.flatten() if len(found) else pa.array([], pa.uint16())
        return counts, pa.ListArray.from_arrays(pa.array(np.cumsum(sizes, dtype=np.int32)), flat)


def _between(table: pa.Table, start: int, stop: int) -> pa.Table:
    """The rows of documents start … stop - 1, of a table ascending by document."""
    numbers = table["document"].to_numpy()
    low, high = np.searchsorted(numbers, [start, stop])
    return table.slice(int(low), int(high - low))
