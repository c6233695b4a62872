"""Match: which documents share a band. Signatures → band keys laid out by key range → a forest of candidate edges.

The pairs inside datasets and those between datasets come out of one look at each key range.
"""

import math
from contextlib import ExitStack
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow import dedup
from zydaflow.dedup.bands import ROW_BITS, pack, unpack
from zydaflow.provenance.commits import DamagedArtefact, Record, Store
from zydaflow.provenance.tables import ArrowFile
from zydaflow.recipe import DedupSpec, Recipe, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages.job import sketch_parameters
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit

BANDS_VERSION = 2
MATCH_VERSION = 2
GROUP = 2**ROW_BITS  # documents whose band keys share a file
KEYS_PER_UNIT = 2**23  # at most, as long as there are enough key ranges: a fifth of a second of work
KEYS = pa.schema([("key", pa.uint64())])  # as `pack` packs it
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


def _units(recipe: Recipe, manifest: Manifest) -> int:
    """How many units share the key ranges: a power of two up to `dedup.RANGES`."""
    assert recipe.dedup is not None
    keys = manifest.documents * split(recipe.dedup)[0]
    units = 1
    while units < dedup.RANGES and keys > units * KEYS_PER_UNIT:
        units *= 2
    return units


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
    """Writes the band keys of a group of documents, one batch per key range, which has its own checksum."""
    assert recipe.dedup is not None
    manifest = manifests.load(store, path)
    start, stop = group * GROUP, min((group + 1) * GROUP, manifest.documents)
    table = dedup.by_key_range(*_keys(store, recipe.dedup, manifest, start, stop))
    fp = _bands_fingerprint(recipe, manifest, group)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/bands", KEYS)
        checksums = []
        for low, high in pairwise(table.bounds):
            packed = pack(table.keys[low:high], table.rows[low:high])
            checksums.append(xxhash.xxh3_64_hexdigest(packed.data))
            file.write(pa.RecordBatch.from_arrays([pa.array(packed)], schema=KEYS))
        artefacts = {"keys": file.finish(f"work/bands/{group:06d}.{fp[:12]}.arrow")}
        counts, facts = {"documents": stop - start}, {"xxh3_64": checksums}
        store.commit(Record("bands", f"bands/{group}", fp, artefacts, counts, facts))
    return Done(stop - start, (stop - start) * recipe.dedup.permutations * 4)


def _keys(store: Store, spec: DedupSpec, manifest: Manifest, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The band keys, uint64 (m, bands), of documents start … stop - 1, and which of them have words, bool (m,)."""
    bands, rows = split(spec)
    keys, comparable = np.empty((stop - start, bands), np.uint64), np.empty(stop - start, bool)
    at = 0
    for values, words in manifests.signature_blocks(store, manifest, start, stop, spec.permutations):
        here = slice(at, at + len(words))
        keys[here], comparable[here] = dedup.band_keys(values, bands, rows), words > 0
        at = here.stop
    return keys, comparable


def match_fingerprint(recipe: Recipe, manifest: Manifest) -> str:
    """Of all candidate edges."""
    assert recipe.dedup is not None
    keys = [sketch_parameters(recipe), split(recipe.dedup), manifest.fingerprint]
    return fingerprint("match", MATCH_VERSION, keys, recipe.dedup.passes, _units(recipe, manifest))


def match_names(recipe: Recipe, manifest: Manifest) -> list[str]:
    """The names of the units."""
    units = _units(recipe, manifest)
    return [f"match/{index}-of-{units}" for index in range(units)]


def match_units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Key ranges in which candidates are to be found."""
    fp, names = match_fingerprint(recipe, manifest), match_names(recipe, manifest)
    assert recipe.dedup is not None
    size = manifest.documents * split(recipe.dedup)[0] * 8 // len(names)
    return [
        Unit(name, match, (recipe, path, index, len(names)), size)
        for index, name in enumerate(names)
        if store.find("match", name, fp) is None
    ]


def match(store: Store, recipe: Recipe, path: str, index: int, units: int) -> Done:
    """Links the documents that share a key, in one key range after the other."""
    assert recipe.dedup is not None
    manifest = manifests.load(store, path)
    groups = [_open(store, recipe, manifest, group) for group in _groups(manifest)]
    fp, width, seen = match_fingerprint(recipe, manifest), dedup.RANGES // units, 0
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/match", EDGES)
        for key_range in range(index * width, (index + 1) * width if groups else 0):
            keys, numbers = _read(groups, key_range)
            edges = dedup.forest(keys, numbers, _link(recipe.dedup), manifest.bounds[:-1])
            file.write(pa.RecordBatch.from_arrays([pa.array(edges[:, 0]), pa.array(edges[:, 1])], schema=EDGES))
            seen += len(keys)
        artefact = file.finish(f"work/match/{index:04d}-of-{units:04d}.{fp[:12]}.arrow")
        counts = {"keys": seen, "edges": file.rows}
        store.commit(Record("match", f"match/{index}-of-{units}", fp, {"edges": artefact}, counts))
    return Done(0, seen * 8)


def _link(spec: DedupSpec) -> dedup.Link:
    """Which documents that share a key are candidates: those of one dataset, of several, or all."""
    if spec.passes == ("within",):
        return "within"
    return "across" if spec.passes == ("across",) else "all"


class _Group(NamedTuple):
    """The band keys of a group of documents."""

    path: str
    first: int  # document
    reader: pa.ipc.RecordBatchFileReader
    checksums: list[str]  # of each key range

    def read(self, key_range: int) -> np.ndarray:
        """uint64: the keys of one range, packed. Only these are checked. Raises DamagedArtefact."""
        try:
            packed = self.reader.get_batch(key_range)["key"].to_numpy()
        except (pa.ArrowInvalid, OSError) as error:
            raise DamagedArtefact(self.path, f"is no whole Arrow file ({error})") from error
        if xxhash.xxh3_64_hexdigest(packed.data) != self.checksums[key_range]:
            raise DamagedArtefact(self.path, "differs from its checksum")
        return packed


def _open(store: Store, recipe: Recipe, manifest: Manifest, group: int) -> _Group:
    record = store.find("bands", f"bands/{group}", _bands_fingerprint(recipe, manifest, group))
    assert record is not None, f"the band keys of group {group} are gone"
    path = record.artefacts["keys"].path
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(store.path(path))))
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedArtefact(path, f"is no whole Arrow file ({error})") from error
    return _Group(path, group * GROUP, reader, record.facts["xxh3_64"])


def _read(groups: list[_Group], key_range: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys, uint64, and documents, uint32, of one range from all groups."""
    keys, numbers = [], []
    for group in groups:
        here, rows = unpack(group.read(key_range), key_range)
        keys.append(here)
        numbers.append(rows + np.uint32(group.first))
    return np.concatenate(keys), np.concatenate(numbers)
