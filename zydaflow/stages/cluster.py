"""Cluster: candidate edges → connected components, dealt out whole to the partitions that decide."""

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, batches, open_arrow, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages import match
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

CLUSTER_VERSION = 2
BYTES_PER_MEMBER = 4096  # what deciding about one document takes: signature, keys, place, and a share of the buckets
SHARES = 16  # partitions, at least, of what is worth sharing out between cores
WORTH_SHARING = 65_536  # members: half a second of deciding
NOWHERE = np.uint32(0xFFFFFFFF)  # the partition of a document without a cluster

MEMBERS = pa.schema([("document", pa.uint32()), ("cluster", pa.uint32())])  # cluster: its first document
BY_DOCUMENT = pa.schema([("document", pa.uint32()), ("partition", pa.uint32())])


def fingerprint_of(recipe: Recipe, manifest: Manifest) -> str:
    """Of the clusters and of how they are dealt out."""
    limit = members_per_partition(recipe)
    return fingerprint("cluster", CLUSTER_VERSION, match.match_fingerprint(recipe, manifest), limit)


def members_per_partition(recipe: Recipe) -> int:
    """How many documents are decided about in one task, at most."""
    return max(1000, recipe.resources.memory_per_task // BYTES_PER_MEMBER)


def record_of(store: Store, recipe: Recipe, manifest: Manifest) -> Record | None:
    """Artefact `members` has one batch (of MEMBERS) per partition, `by_document` all of them by number."""
    return store.find("cluster", "cluster", fingerprint_of(recipe, manifest))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The one unit: components are a property of the whole."""
    return [] if record_of(store, recipe, manifest) else [Unit("cluster", cluster, (recipe, path), 0)]


def cluster(store: Store, recipe: Recipe, path: str) -> Done:
    """Unites the edges of all key ranges. Memory: 8 bytes per document, and 20 per document in a cluster."""
    manifest = manifests.load(store, path)
    found = dedup.components(_edges(store, recipe, manifest), manifest.documents)
    share = max(WORTH_SHARING, len(found.members) // SHARES)
    runs = dedup.partition(found, min(share, members_per_partition(recipe)))
    fp = fingerprint_of(recipe, manifest)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/cluster", MEMBERS)
        partition = np.full(manifest.documents, NOWHERE, np.uint32)
        for number, run in enumerate(runs):
            part = found.part(run)
            firsts = np.repeat(part.members[part.offsets[:-1]], np.diff(part.offsets))
            file.write(pa.RecordBatch.from_arrays([pa.array(part.members), pa.array(firsts)], schema=MEMBERS))
            partition[part.members] = number
        members = file.finish(f"work/cluster/members.{fp[:12]}.arrow")
        index = ArrowFile(outputs, store, "work/cluster", BY_DOCUMENT)
        numbers = np.flatnonzero(partition != NOWHERE)
        columns = [pa.array(numbers.astype(np.uint32)), pa.array(partition[numbers])]
        index.write(pa.RecordBatch.from_arrays(columns, schema=BY_DOCUMENT))
        by_document = index.finish(f"work/cluster/by-document.{fp[:12]}.arrow")
        counts = {"clusters": len(found.offsets) - 1, "members": len(found.members), "partitions": len(runs)}
        store.commit(Record("cluster", "cluster", fp, {"members": members, "by_document": by_document}, counts))
    return Done(manifest.documents, 0)


def _edges(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[np.ndarray]:
    fp = match.match_fingerprint(recipe, manifest)
    for name in match.match_names(recipe, manifest):
        record = store.find("match", name, fp)
        assert record is not None, f"{name} is not matched"
        for batch in batches(store, record.artefacts["edges"]):
            yield np.column_stack([batch["a"].to_numpy(), batch["b"].to_numpy()])


def members_of(store: Store, record: Record, partition: int) -> tuple[np.ndarray, np.ndarray]:
    """A partition's documents, int64 (m,), cluster after cluster, and the clusters' offsets, int64 (c + 1,)."""
    batch = open_arrow(store, record.artefacts["members"]).get_batch(partition)
    firsts = batch["cluster"].to_numpy()
    offsets = np.append(np.flatnonzero(np.diff(firsts.astype(np.int64), prepend=-1)), len(firsts))
    return batch["document"].to_numpy().astype(np.int64), offsets


def partitions_of(store: Store, record: Record, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The documents start … stop - 1 that are in clusters, int64 ascending, and the partition of each."""
    table = read_table(store, record.artefacts["by_document"]).combine_chunks()
    documents = table["document"].chunk(0).to_numpy() if len(table) else np.empty(0, np.uint32)
    low, high = np.searchsorted(documents, [start, stop])
    if low == high:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    here = table["partition"].chunk(0).to_numpy()[low:high]
    return documents[low:high].astype(np.int64), here.astype(np.int64)
