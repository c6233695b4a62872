"""Match: which documents share a band. Signatures → band keys laid out by key range → a forest of candidate edges.

The pairs inside datasets and those between datasets come out of one look at each key range.
"""

import math
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow import dedup
from zydaflow.dedup.bands import ROW_BITS
from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.scratch import Scratch
from zydaflow.provenance.tables import ArrowFile
from zydaflow.recipe import DedupSpec, Recipe, fingerprint
from zydaflow.stages import keys
from zydaflow.stages import manifest as manifests
from zydaflow.stages.job import sketch_parameters
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.unit import Done, Unit
from zydaflow.storage import seekable

BANDS_VERSION = 4
MATCH_VERSION = 4
SALT = np.uint64(0x9E3779B97F4A7C15)
GROUP = 2**ROW_BITS  # documents whose band keys share a file
KEYS_PER_UNIT = 2**23  # at most, as long as there are enough key ranges: a fifth of a second of work
EDGES_PER_BATCH = 2**14
KEYS = pa.schema([("key", pa.uint64())])  # packed
EDGES = pa.schema([("documents", pa.list_(pa.uint32(), 2))])


def split(spec: DedupSpec) -> tuple[int, int]:
    """Bands and rows: the recipe's, or those that follow from the threshold."""
    if spec.bands and spec.rows:
        return spec.bands, spec.rows
    return dedup.choose(spec.threshold, spec.permutations, spec.verify)


def _bands_fingerprint(recipe: Recipe, manifest: Manifest, group: int) -> str:
    assert recipe.dedup is not None
    start, stop = group * GROUP, min((group + 1) * GROUP, manifest.numbers)
    parts = [[p.keep, p.first, p.rows] for p in manifest.all_overlapping(start, stop)]
    cut = [sketch_parameters(recipe), split(recipe.dedup), _compared(recipe)]
    return fingerprint("bands", BANDS_VERSION, cut, start, stop, parts)


def _compared(recipe: Recipe) -> list[Any]:
    """What else than signatures brings documents together, and of which datasets."""
    assert recipe.dedup is not None
    return [recipe.dedup.exact, [[d.dedup, d.id if recipe.dedup.exact else None] for d in recipe.datasets]]


def _groups(manifest: Manifest) -> range:
    return range(math.ceil(manifest.numbers / GROUP))


def _units(recipe: Recipe, manifest: Manifest) -> int:
    """How many units share the key ranges: a power of two up to `dedup.RANGES`."""
    assert recipe.dedup is not None
    keys = manifest.numbers * _columns(recipe)
    units = 1
    while units < dedup.RANGES and keys > units * KEYS_PER_UNIT:
        units *= 2
    return units


def _columns(recipe: Recipe) -> int:
    """Keys of a document: its bands, and its exact values."""
    assert recipe.dedup is not None
    return split(recipe.dedup)[0] + len(recipe.dedup.exact)


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
    start, stop = group * GROUP, min((group + 1) * GROUP, manifest.numbers)
    table = dedup.by_key_range(_keys(store, recipe, manifest, start, stop))
    fp = _bands_fingerprint(recipe, manifest, group)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/bands", KEYS)
        checksums = []
        for low, high in pairwise(table.bounds):
            packed = table.packed[low:high]
            checksums.append(xxhash.xxh3_64_hexdigest(packed.data))
            file.write(pa.RecordBatch.from_arrays([pa.array(packed)], schema=KEYS))
        artefacts = {"keys": file.finish(f"work/bands/{group:06d}.{fp[:12]}.arrow")}
        counts, facts = {"documents": stop - start}, {"xxh3_64": checksums}
        store.commit(Record("bands", f"bands/{group}", fp, artefacts, counts, facts))
    return Done(stop - start, (stop - start) * recipe.dedup.permutations * 4)


def _keys(store: Store, recipe: Recipe, manifest: Manifest, start: int, stop: int) -> np.ndarray:
    """The band keys of documents start … stop - 1, and the hashes of their exact values: uint64 (m, bands + e).

    0 for no key: of a document without words, without that value, or of a dataset that takes no part.
    """
    assert recipe.dedup is not None
    bands, rows = split(recipe.dedup)
    found = np.zeros((stop - start, bands + len(recipe.dedup.exact)), np.uint64)
    for first, values in manifests.signature_blocks(store, manifest, start, stop, recipe.dedup.permutations):
        dedup.band_keys(values, bands, rows, found[first - start : first - start + len(values)])
    exact = keys.exact_of(store, recipe, manifest, np.arange(start, stop))[:, :, 0]
    salts = np.arange(exact.shape[1], dtype=np.uint64) * SALT  # equal values of two columns make nobody equal
    found[:, bands:] = np.where(exact, exact ^ salts, 0)
    return found


def match_fingerprint(recipe: Recipe, manifest: Manifest) -> str:
    """Of all candidate edges."""
    assert recipe.dedup is not None
    cut = [sketch_parameters(recipe), split(recipe.dedup), _compared(recipe), manifest.fingerprint]
    linked = [_link(recipe.dedup), _boundaries(recipe.dedup, manifest).tolist()]
    return fingerprint("match", MATCH_VERSION, cut, linked, _units(recipe, manifest))


def match_names(recipe: Recipe, manifest: Manifest) -> list[str]:
    """The names of the units."""
    units = _units(recipe, manifest)
    return [f"match/{index}-of-{units}" for index in range(units)]


def match_units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Key ranges in which candidates are to be found."""
    fp, names = match_fingerprint(recipe, manifest), match_names(recipe, manifest)
    assert recipe.dedup is not None
    size = manifest.numbers * _columns(recipe) * 8 // len(names)
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
    fp, width, memory = match_fingerprint(recipe, manifest), dedup.RANGES // units, recipe.resources.memory_per_task
    scratch, link, seen, largest = Scratch(store, memory), _link(recipe.dedup), 0, 0
    boundaries = _boundaries(recipe.dedup, manifest)
    with ExitStack() as outputs:
        file = _EdgeFile(outputs, store)
        for key_range in range(index * width, (index + 1) * width if groups else 0):
            blocks = [dedup.Block(group.read(key_range), group.first) for group in groups]
            seen += sum(len(block.packed) for block in blocks)
            for edges in dedup.forest(blocks, link, boundaries, memory, scratch.empty):
                found = edges.documents
                if manifest.indexed:  # an edge goes out from the lowest document: these are of buckets of indexes alone
                    found = found[found[:, 0] < manifest.documents]
                file.write(found)
                largest = max(largest, edges.largest)
        artefact = file.finish(f"work/match/{index:04d}-of-{units:04d}.{fp[:12]}.arrow")
        counts, facts = {"keys": seen, "edges": file.rows}, {"largest_bucket": largest}
        store.commit(Record("match", f"match/{index}-of-{units}", fp, {"edges": artefact}, counts, facts))
    return Done(0, seen * 8)


class _EdgeFile:
    """Writes edges in batches of a fixed size: the file is the same to the byte in however many steps they come."""

    def __init__(self, outputs: ExitStack, store: Store) -> None:
        self._file = ArrowFile(outputs, store, "work/match", EDGES)
        self._waiting, self._count = np.empty((EDGES_PER_BATCH, 2), np.uint32), 0

    @property
    def rows(self) -> int:
        """Edges in the file, after `finish`."""
        return self._file.rows

    def write(self, edges: np.ndarray) -> None:
        """Takes edges, uint32 (k, 2)."""
        while len(edges):
            room = self._waiting[self._count :][: len(edges)]
            room[:], edges = edges[: len(room)], edges[len(room) :]
            self._count += len(room)
            if self._count == EDGES_PER_BATCH:
                self._flush()

    def _flush(self) -> None:
        pairs = pa.FixedSizeListArray.from_arrays(pa.array(self._waiting[: self._count].reshape(-1)), 2)
        self._file.write(pa.RecordBatch.from_arrays([pairs], schema=EDGES))
        self._count = 0

    def finish(self, relative: str) -> Artefact:
        """Ends the file and gives it its name."""
        self._flush()
        return self._file.finish(relative)


def _link(spec: DedupSpec) -> dedup.Link:
    """Which documents that share a key are candidates: those of one dataset, of several, or all."""
    if spec.exact:
        return "all"
    if spec.passes == ("within",) and not spec.against:
        return "within"
    return "across" if spec.passes in ((), ("across",)) else "all"


def _boundaries(spec: DedupSpec, manifest: Manifest) -> np.ndarray:
    """int64: the first document of each dataset, as far as links tell them apart: all that indexes hold is one of them.

    Without passes the run's own are one, too: their documents are not held against each other.
    """
    own = manifest.bounds[: len(manifest.datasets) if spec.passes else 1]
    return np.append(own, manifest.documents) if manifest.indexed else own


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
        reader = pa.ipc.open_file(seekable(store.path(path)))
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedArtefact(path, f"is no whole Arrow file ({error})") from error
    return _Group(path, group * GROUP, reader, record.facts["xxh3_64"])
