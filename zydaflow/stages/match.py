"""Match: which documents share a band. Signatures → band keys laid out by key range → a forest of candidate edges.

The pairs inside datasets and those between datasets come out of one look at each key range.
"""

import math
from contextlib import ExitStack

import numpy as np
import pyarrow as pa

from zydaflow import dedup
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, open_arrow
from zydaflow.recipe import DedupSpec, Recipe, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages.job import sketch_parameters
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

BANDS_VERSION = 1
MATCH_VERSION = 1
GROUP = 262_144  # documents whose band keys share a file
BYTES_PER_KEY = 84  # what matching one key takes at most: 12 to hold it, 12 to sort it, 60 to link it
KEYS = pa.schema([("key", pa.uint64()), ("document", pa.uint32())])
EDGES = pa.schema([("a", pa.uint32()), ("b", pa.uint32())])


def split(spec: DedupSpec) -> tuple[int, int]:
    """Bands and rows: the recipe's, or those that follow from the threshold."""
    if spec.bands and spec.rows:
        return spec.bands, spec.rows
    return dedup.choose(spec.threshold, spec.permutations, spec.verify)


def _bands_fingerprint(recipe: Recipe, manifest: Manifest, group: int) -> str:
    assert recipe.dedup is not None
    start, stop = group * GROUP, min((group + 1) * GROUP, manifest.documents)
    parts = [[p.keep, p.first, p.rows] for p in manifest.overlapping(start, stop)]
    return fingerprint("bands", BANDS_VERSION, sketch_parameters(recipe), split(recipe.dedup), start, stop, parts)


def _groups(manifest: Manifest) -> range:
    return range(math.ceil(manifest.documents / GROUP))


def _ranges(recipe: Recipe, manifest: Manifest) -> int:
    """How many key ranges: so many that one fits in a task's memory, and a power of two up to `dedup.RANGES`."""
    assert recipe.dedup is not None
    need = manifest.documents * (split(recipe.dedup)[0] * BYTES_PER_KEY)
    ranges = 1
    while ranges < dedup.RANGES and need / ranges > recipe.resources.memory_per_task / 2:
        ranges *= 2
    return ranges


def band_units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Groups of documents whose band keys are to be laid out."""
    assert recipe.dedup is not None
    size = GROUP * recipe.dedup.permutations * 4
    return [
        Unit(f"bands/{group}", lay_out, (recipe, path, group), size)
        for group in _groups(manifest)
        if store.find("bands", f"bands/{group}", _bands_fingerprint(recipe, manifest, group)) is None
    ]


def lay_out(store: Store, recipe: Recipe, path: str, group: int) -> Done:
    """Writes the band keys of a group of documents, one batch per key range."""
    assert recipe.dedup is not None
    manifest = manifests.load(store, path)
    documents = np.arange(group * GROUP, min((group + 1) * GROUP, manifest.documents), dtype=np.int64)
    values, words = manifests.signatures_of(store, manifest, documents, recipe.dedup.permutations)
    bands, rows = split(recipe.dedup)
    table = dedup.by_key_range(dedup.band_keys(values, bands, rows), words > 0)
    fp = _bands_fingerprint(recipe, manifest, group)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/bands", KEYS)
        for low, high in zip(table.bounds, table.bounds[1:], strict=False):
            numbers = table.rows[low:high] + np.uint32(documents[0])
            file.write(pa.RecordBatch.from_arrays([pa.array(table.keys[low:high]), pa.array(numbers)], schema=KEYS))
        keys = file.finish(f"work/bands/{group:06d}.{fp[:12]}.arrow")
        store.commit(Record("bands", f"bands/{group}", fp, {"keys": keys}, {"documents": len(documents)}))
    return Done(len(documents), values.nbytes)


def match_fingerprint(recipe: Recipe, manifest: Manifest) -> str:
    """Of all candidate edges."""
    assert recipe.dedup is not None
    keys = [sketch_parameters(recipe), split(recipe.dedup), manifest.fingerprint]
    return fingerprint("match", MATCH_VERSION, keys, recipe.dedup.passes, _ranges(recipe, manifest))


def match_names(recipe: Recipe, manifest: Manifest) -> list[str]:
    """The names of the key ranges' units."""
    ranges = _ranges(recipe, manifest)
    return [f"match/{index}-of-{ranges}" for index in range(ranges)]


def match_units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Key ranges in which candidates are to be found."""
    fp, names = match_fingerprint(recipe, manifest), match_names(recipe, manifest)
    assert recipe.dedup is not None
    size = manifest.documents * split(recipe.dedup)[0] * 16 // len(names)
    return [
        Unit(name, match, (recipe, path, index, len(names)), size)
        for index, name in enumerate(names)
        if store.find("match", name, fp) is None
    ]


def match(store: Store, recipe: Recipe, path: str, index: int, ranges: int) -> Done:
    """Links the documents that share a key in one key range, with at most one edge less than documents."""
    assert recipe.dedup is not None
    manifest = manifests.load(store, path)
    keys, numbers = _read_range(store, recipe, manifest, index, ranges)
    edges = dedup.forest(keys, numbers, _link(recipe.dedup), manifest.bounds[:-1])
    fp = match_fingerprint(recipe, manifest)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/match", EDGES)
        file.write(pa.RecordBatch.from_arrays([pa.array(edges[:, 0]), pa.array(edges[:, 1])], schema=EDGES))
        artefact = file.finish(f"work/match/{index:04d}-of-{ranges:04d}.{fp[:12]}.arrow")
        store.commit(
            Record(
                "match", f"match/{index}-of-{ranges}", fp, {"edges": artefact}, {"keys": len(keys), "edges": len(edges)}
            )
        )
    return Done(0, keys.nbytes + numbers.nbytes)


def _link(spec: DedupSpec) -> dedup.Link:
    """Which documents that share a key are candidates: those of one dataset, of several, or all."""
    if spec.passes == ("within",):
        return "within"
    return "across" if spec.passes == ("across",) else "all"


def _read_range(
    store: Store, recipe: Recipe, manifest: Manifest, index: int, ranges: int
) -> tuple[np.ndarray, np.ndarray]:
    width = dedup.RANGES // ranges
    keys, numbers = [], []
    for group in _groups(manifest):
        record = store.find("bands", f"bands/{group}", _bands_fingerprint(recipe, manifest, group))
        assert record is not None, f"the band keys of group {group} are gone"
        reader = open_arrow(store, record.artefacts["keys"])
        for piece in range(index * width, (index + 1) * width):
            batch = reader.get_batch(piece)
            keys.append(batch["key"].to_numpy())
            numbers.append(batch["document"].to_numpy())
    if not keys:
        return np.empty(0, np.uint64), np.empty(0, np.uint32)
    return np.concatenate(keys), np.concatenate(numbers)
