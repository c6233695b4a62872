"""Gather, for `verify: exact`: the texts of documents in clusters, laid out by the partition that will compare them."""

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, batches, open_arrow
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import cluster
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

GATHER_VERSION = 1
TEXTS = pa.schema([("document", pa.int64()), ("text", pa.large_string())])


def _fingerprint(recipe: Recipe, manifest: Manifest, part: int) -> str:
    return fingerprint("gather", GATHER_VERSION, cluster.fingerprint_of(recipe, manifest), manifest.parts[part].keep)


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The parts whose clustered texts are to be laid out."""
    return [
        Unit(f"gather/{index}", gather, (recipe, path, index), part.text.bytes)
        for index, part in enumerate(manifest.parts)
        if store.find("gather", f"gather/{index}", _fingerprint(recipe, manifest, index)) is None
    ]


def records(store: Store, recipe: Recipe, manifest: Manifest) -> list[Record]:
    """The gathered texts that are there, by part."""
    found = [store.find("gather", f"gather/{k}", _fingerprint(recipe, manifest, k)) for k in range(len(manifest.parts))]
    return [record for record in found if record is not None]


def gather(store: Store, recipe: Recipe, path: str, index: int) -> Done:
    """Reads the kept text of one part once and writes what is in clusters, one batch per partition."""
    manifest = manifests.load(store, path)
    record = cluster.record_of(store, recipe, manifest)
    assert record is not None
    part = manifest.parts[index]
    documents, partitions = cluster.partitions_of(store, record, part.first, part.stop)
    pieces: list[pa.RecordBatch] = []
    start = part.first
    for batch in batches(store, part.text):
        low, high = np.searchsorted(documents, [start, start + len(batch)])
        text = batch["text"].take(pa.array(documents[low:high] - start))
        pieces.append(pa.RecordBatch.from_arrays([pa.array(documents[low:high]), text], schema=TEXTS))
        start += len(batch)
    table = pa.Table.from_batches(pieces, TEXTS).combine_chunks()
    fp = _fingerprint(recipe, manifest, index)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/gather", TEXTS, "lz4")
        for partition in range(record.counts["partitions"]):
            chosen = table.take(pa.array(np.flatnonzero(partitions == partition))).combine_chunks()
            file.write(chosen.to_batches()[0] if len(chosen) else pa.RecordBatch.from_pylist([], schema=TEXTS))
        texts = file.finish(f"work/gather/{index:06d}.{fp[:12]}.arrow")
        store.commit(Record("gather", f"gather/{index}", fp, {"texts": texts}, {"documents": len(documents)}))
    return Done(len(documents), table.nbytes)


def texts_of(store: Store, recipe: Recipe, manifest: Manifest, partition: int) -> Iterator[pa.LargeStringArray]:
    """The texts of a partition's documents, by ascending number, part by part."""
    for index in range(len(manifest.parts)):
        record = store.find("gather", f"gather/{index}", _fingerprint(recipe, manifest, index))
        assert record is not None, f"the texts of part {index} are not gathered"
        yield open_arrow(store, record.artefacts["texts"]).get_batch(partition)["text"]
