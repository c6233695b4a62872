"""Decide: clusters and signatures → who stays, who goes and for whom, by partition."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.kernels.greedy import EXACT
from zydaflow.provenance.commits import Artefact, Record, Store
from zydaflow.provenance.scratch import Scratch
from zydaflow.provenance.tables import ArrowFile, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.say import warn
from zydaflow.stages import cluster, gather, keys
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.match import split
from zydaflow.stages.unit import Done, Unit

DECIDE_VERSION = 4
CHUNK = 65_536  # removals whose rows are made at a time
UNLIKE = 0.1  # the estimated similarity below which two documents have nothing to do with one another

NUMBERS = [pa.field("document", pa.int64()), pa.field("kept", pa.int64())]
REMOVED = pa.schema([*NUMBERS, *dedup.REMOVED], dedup.REMOVED.metadata)  # ascending by number; without tokens yet
KEEPERS = pa.schema([("document", pa.int64()), ("n_duplicates", pa.int64()), ("sources", pa.list_(pa.uint16()))])
GONE = pa.schema([("document", pa.int64())])  # of REMOVED, in one piece: readers search it where it lies
MATCHES = pa.schema([("document", pa.int64()), ("dataset", pa.uint16())])  # ascending; a dataset with one that is alike


def fingerprint_of(recipe: Recipe, manifest: Manifest) -> str:
    """Of all decisions."""
    spec = recipe.dedup
    assert spec is not None
    rule = spec.model_dump(mode="json", include={"threshold", "passes", "verify", "compare_limit", "across", "keep"})
    chosen_by = [rule, [[d.frozen, d.date] for d in recipe.datasets]]
    chosen_by += [scores for part in manifest.parts if (scores := keys.chosen_by(recipe, part))]
    return fingerprint(
        "decide", DECIDE_VERSION, cluster.fingerprint_of(recipe, manifest), manifest.fingerprint, chosen_by
    )


def roles_of(recipe: Recipe, indexes: int = 0) -> dedup.Roles:
    """What the recipe lets happen to the documents of its datasets, and of so many datasets of indexes after them."""
    spec = recipe.dedup
    assert spec is not None
    remove_from = [d.name in spec.across.remove_from for d in recipe.datasets] if spec.across else None
    return dedup.roles([d.frozen for d in recipe.datasets], spec.passes, remove_from, indexes)


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
    scratch = Scratch(store, recipe.resources.memory_per_task // 2)
    members = _members(store, recipe, manifest, numbers, offsets, scratch)
    sets = _sets(store, recipe, manifest, partition, numbers, scratch) if recipe.dedup.verify == "exact" else None
    roles = roles_of(recipe, len(manifest.indexes))
    decision = dedup.decide(members, recipe.dedup, roles, *split(recipe.dedup), sets, scratch.empty)
    fp = fingerprint_of(recipe, manifest)
    with ExitStack() as outputs:
        ids = dedup.cluster_ids(manifests.documents_of(store, manifest, numbers[offsets[:-1]]))
        names = pa.array(manifest.names, pa.string())
        tables = {
            "removed": _removed(store, manifest, numbers, members, decision, ids),
            "gone": iter([_gone(numbers, decision)]),
            "clusters": iter(dedup.clusters_table(ids, names, members, decision).to_batches()),
            "keepers": iter(_keepers(numbers, members, decision).to_batches()),
            "matches": iter(_matches(numbers, decision).to_batches()),
        }
        schemas = {"removed": REMOVED, "gone": GONE, "clusters": dedup.CLUSTERS, "keepers": KEEPERS, "matches": MATCHES}
        artefacts: dict[str, Artefact] = {}
        for name, batches in tables.items():
            file = ArrowFile(outputs, store, "work/decide", schemas[name])
            for batch in batches:
                file.write(batch)
            artefacts[name] = file.finish(f"work/decide/{partition:06d}.{name}.{fp[:12]}.arrow")
        counts = {
            "members": len(numbers),
            "removed": len(decision.removed),
            "compare_limit_met": int(decision.limit_met.sum()),
            "doubtful": int(decision.doubtful.sum()),
        }
        counts |= _equal(recipe.dedup.exact, members, decision)
        store.commit(Record("decide", f"decide/{partition}", fp, artefacts, counts))
    return Done(len(numbers), 0)


def _equal(names: Sequence[str], members: dedup.Members, decision: dedup.Decision) -> dict[str, int]:
    """How many documents went for one that is equal by a column of `exact`, and how many of them are unlike it."""
    rows = np.flatnonzero(decision.outcome == EXACT)
    unlike = decision.agreement[rows] < UNLIKE * members.signatures.shape[1]
    counts: dict[str, int] = {}
    for column, name in enumerate(names):
        own, kept = members.exact[rows, column], members.exact[decision.kept[rows], column]
        equal = (own == kept).all(axis=1) & own.any(axis=1)
        counts |= {f"equal.{name}": int(equal.sum()), f"unlike.{name}": int((equal & unlike).sum())}
    return counts


def warn_of_unlike(store: Store, recipe: Recipe, manifest: Manifest) -> None:
    """Tells of columns of `exact` whose values are equal by chance, as those of counters are."""
    assert recipe.dedup is not None
    counts = Counter[str]()
    for record in records(store, recipe, manifest) if recipe.dedup.exact else ():
        counts.update(record.counts)
    for name in recipe.dedup.exact:
        equal, unlike = counts[f"equal.{name}"], counts[f"unlike.{name}"]
        if unlike > equal / 2:
            warn(
                f"warning: dedup.exact: {unlike:,} of {equal:,} documents that went for one with an equal {name} are "
                f"less than {UNLIKE:g} similar to it: if {name} does not tell a text from all others, take it out"
            )


def _members(
    store: Store, recipe: Recipe, manifest: Manifest, numbers: np.ndarray, offsets: np.ndarray, scratch: Scratch
) -> dedup.Members:
    """What is known of a partition's documents, in the order of the clusters."""
    assert recipe.dedup is not None
    signatures = scratch.empty((len(numbers), recipe.dedup.permutations), np.uint32)
    manifests.fill_signatures(store, manifest, numbers, signatures)
    dataset = (np.searchsorted(manifest.bounds, numbers, side="right") - 1).astype(np.int32)
    chosen_by = [
        *keys.keep_ranks(store, recipe, manifest, numbers),
        *dedup.hash_keys(manifests.hashes_of(store, manifest, numbers)),
        numbers,
    ]
    precedence = roles_of(recipe, len(manifest.indexes)).precedence
    order = dedup.keeper_order(offsets, precedence[dataset], *chosen_by)
    return dedup.Members(offsets, order, dataset, signatures, keys.exact_of(store, recipe, manifest, numbers))


def _sets(
    store: Store, recipe: Recipe, manifest: Manifest, partition: int, numbers: np.ndarray, scratch: Scratch
) -> dedup.ShingleSets:
    """The sets of shingles of a partition's documents, in the order of the clusters."""
    assert recipe.dedup is not None
    shingle, sizes = recipe.dedup.shingle, np.zeros(len(numbers) + 1, np.int64)

    def pieces() -> Iterator[np.ndarray]:
        done = 0
        for texts in gather.texts_of(store, recipe, manifest, partition):
            sets = dedup.shingle_sets(texts, shingle)
            sizes[done + 1 : done + 1 + len(texts)] = sets.stops - sets.starts
            done += len(texts)
            yield sets.hashes

    hashes = scratch.concatenate(pieces(), np.uint64)
    place = np.empty(len(numbers), np.int64)
    place[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    bounds = np.cumsum(sizes)
    return dedup.ShingleSets(hashes, bounds[place], bounds[place + 1])


def _removed(
    store: Store,
    manifest: Manifest,
    numbers: np.ndarray,
    members: dedup.Members,
    decision: dedup.Decision,
    ids: pa.Array,
) -> Iterator[pa.RecordBatch]:
    """The removals by ascending number, some at a time: places and ids take more memory than all the rest."""
    removed = decision.removed
    removed = removed[np.argsort(numbers[removed], kind="stable")]
    for start in range(0, len(removed), CHUNK):
        rows = removed[start : start + CHUNK]
        gone, kept = numbers[rows], numbers[decision.kept[rows]]
        described, stays = (manifests.documents_of(store, manifest, documents) for documents in (gone, kept))
        table = dedup.removed_table(described, stays, members, decision, rows, ids)
        columns = [pa.array(gone), pa.array(kept), *table.combine_chunks().to_batches()[0].columns]
        yield pa.RecordBatch.from_arrays(columns, schema=REMOVED)


def _gone(numbers: np.ndarray, decision: dedup.Decision) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(np.sort(numbers[decision.removed]))], schema=GONE)


def _matches(numbers: np.ndarray, decision: dedup.Decision) -> pa.Table:
    """In which datasets each document has one that is alike."""
    order = np.argsort(numbers, kind="stable")
    rows, datasets = np.nonzero(decision.matched[order])
    return pa.table([pa.array(numbers[order][rows]), pa.array(datasets.astype(np.uint16))], MATCHES)


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
    def _removed(self) -> list["_Rows"]:
        return [self._rows(record, "removed", "gone") for record in self._records]

    @cached_property
    def _keepers(self) -> list["_Rows"]:
        return [self._rows(record, "keepers", "keepers") for record in self._records]

    def _rows(self, record: Record, name: str, numbers: str) -> "_Rows":
        table, index = (read_table(self._store, record.artefacts[key]) for key in (name, numbers))
        return _Rows(table, index["document"].to_numpy())

    def removed_rows(self, start: int, stop: int) -> pa.Table:
        """The rows (REMOVED) of the removals among documents start … stop - 1, by number."""
        pieces = [rows.between(start, stop) for rows in self._removed]
        return pa.concat_tables(pieces).sort_by("document") if pieces else REMOVED.empty_table()

    def removed(self, start: int, stop: int) -> np.ndarray:
        """int64: the removed documents among start … stop - 1."""
        pieces = [rows.numbers[rows.range(start, stop)] for rows in self._removed]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def duplicates(self, documents: np.ndarray) -> tuple[np.ndarray, pa.ListArray]:
        """For ascending documents: int64, how many went for each, and the datasets that those came from, by rank."""
        counts = np.zeros(len(documents), np.int64)
        pieces = [rows.between(int(documents[0]), int(documents[-1]) + 1) for rows in self._keepers]
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


class _Rows(NamedTuple):
    """A table ascending by document, memory-mapped, of which some rows are asked for at a time."""

    table: pa.Table
    numbers: np.ndarray  # int64: the documents, in one piece, and so not copied

    def range(self, start: int, stop: int) -> slice:
        """Where the documents start … stop - 1 are."""
        return slice(*np.searchsorted(self.numbers, [start, stop]).tolist())

    def between(self, start: int, stop: int) -> pa.Table:
        """The rows of documents start … stop - 1."""
        here = self.range(start, stop)
        return self.table.slice(here.start, here.stop - here.start)
