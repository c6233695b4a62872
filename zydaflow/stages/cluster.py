"""Cluster: candidate edges → connected components, dealt out whole to the partitions that decide."""

import math
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Artefact, Record, Store
from zydaflow.provenance.scratch import Scratch
from zydaflow.provenance.tables import ArrowFile, batches
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages import match
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

CLUSTER_VERSION = 3
BYTES_PER_MEMBER = 4096  # what deciding about one document takes: signature, keys, place, and a share of the buckets
SHARES = 16  # partitions, at least, of what is worth sharing out between cores
WORTH_SHARING = 65_536  # members: half a second of deciding
STRIDE = 2**20  # documents
NOWHERE = np.uint32(0xFFFFFFFF)  # the partition of a document without a cluster

FOLDER = "work/cluster"
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
    """Artefact `members` has one batch (of MEMBERS) per partition, `by_document` one for every `STRIDE` documents."""
    return store.find("cluster", "cluster", fingerprint_of(recipe, manifest))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The one unit: components are a property of the whole."""
    return [] if record_of(store, recipe, manifest) else [Unit("cluster", cluster, (recipe, path), 0)]


def cluster(store: Store, recipe: Recipe, path: str) -> Done:
    """Unites the edges of all key ranges.

    Memory: 8 bytes per document and, later, 4 per document, 4 per member of a cluster and 8 per cluster, as far as
    `memory_per_task` reaches, and files beyond; besides, 4 per member of one partition.
    """
    manifest, scratch = manifests.load(store, path), Scratch(store, recipe.resources.memory_per_task)
    found = dedup.components(_edges(store, recipe, manifest), manifest.numbers, scratch.empty)
    share = max(WORTH_SHARING, len(found.members) // SHARES)
    runs = dedup.runs(found.offsets, min(share, members_per_partition(recipe)))
    fp = fingerprint_of(recipe, manifest)
    with ExitStack() as outputs:
        members, by_document = (
            ArrowFile(outputs, store, FOLDER, MEMBERS),
            ArrowFile(outputs, store, FOLDER, BY_DOCUMENT),
        )
        partition = scratch.full(manifest.numbers, NOWHERE, np.uint32)
        for number, run in enumerate(runs):
            part = found.part(run)
            firsts = np.repeat(part.members[part.offsets[:-1]], np.diff(part.offsets))
            members.write(pa.RecordBatch.from_arrays([pa.array(part.members), pa.array(firsts)], schema=MEMBERS))
            partition[part.members] = number
        for start in range(0, manifest.numbers, STRIDE):
            here = partition[start : start + STRIDE]
            clustered = np.flatnonzero(here != NOWHERE)
            columns = [pa.array((clustered + start).astype(np.uint32)), pa.array(here[clustered])]
            by_document.write(pa.RecordBatch.from_arrays(columns, schema=BY_DOCUMENT))
        artefacts = {
            "members": members.finish(f"{FOLDER}/members.{fp[:12]}.arrow"),
            "by_document": by_document.finish(f"{FOLDER}/by-document.{fp[:12]}.arrow"),
        }
        counts = {"clusters": len(found.offsets) - 1, "members": len(found.members), "partitions": len(runs)}
        store.commit(Record("cluster", "cluster", fp, artefacts, counts))
    return Done(manifest.numbers, 0)


def _edges(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[np.ndarray]:
    fp = match.match_fingerprint(recipe, manifest)
    for name in match.match_names(recipe, manifest):
        record = store.find("match", name, fp)
        assert record is not None, f"{name} is not matched"
        for batch in batches(store, record.artefacts["edges"]):
            yield batch["documents"].flatten().to_numpy().reshape(-1, 2)


def members_of(store: Store, record: Record, partition: int) -> tuple[np.ndarray, np.ndarray]:
    """A partition's documents, int64 (m,), cluster after cluster, and the clusters' offsets, int64 (c + 1,)."""
    documents, firsts = _chunk(store, record.artefacts["members"], partition)
    offsets = np.append(np.flatnonzero(np.diff(firsts, prepend=-1)), len(firsts))
    return documents, offsets


def partitions_of(store: Store, record: Record, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The documents start … stop - 1 that are in clusters, int64 ascending, and the partition of each, int64."""
    strides = range(start // STRIDE, math.ceil(stop / STRIDE))
    chunks = [_chunk(store, record.artefacts["by_document"], stride) for stride in strides]
    found = np.hstack([np.empty((2, 0), np.int64), *chunks])
    low, high = np.searchsorted(found[0], [start, stop])
    return found[0, low:high], found[1, low:high]


def _chunk(store: Store, artefact: Artefact, number: int) -> np.ndarray:
    """The two columns of one batch of a file that is mapped and checked once per process: int64 (2, m)."""
    table = manifests.table_of(store, artefact)
    return np.stack([column.chunk(number).to_numpy() for column in table.columns]).astype(np.int64)
