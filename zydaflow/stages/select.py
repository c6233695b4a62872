"""Select: the kept documents minus the removed ones, cut into output shards by a rule that looks at nothing else."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow import tokens
from zydaflow.provenance.commits import Artefact, Record, Store
from zydaflow.provenance.tables import ArrowFile, open_arrow, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import decide
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.runs import runs
from zydaflow.stages.unit import Done, Unit

SELECT_VERSION = 2

# One batch per output shard: where each of its documents is to be found, and what it stands for.
SELECTION = pa.schema(
    [
        ("part", pa.uint32()),  # in the manifest
        ("row", pa.uint32()),  # in that part
        ("batch", pa.uint32()),  # of the output shard
        ("n_duplicates", pa.int64()),
        ("duplicate_sources", pa.list_(pa.uint16())),  # datasets by rank
    ]
)
REMOVED = pa.schema([("row", pa.uint32())])  # one batch per part that loses documents, ascending


def select_fingerprint(recipe: Recipe, manifest: Manifest, dataset: int) -> str:
    """Of the output shards' contents, as far as documents go."""
    decided = decide.fingerprint_of(recipe, manifest) if recipe.dedup else None
    parts = [[k, p.keep, p.first, p.rows] for k, p in enumerate(manifest.parts) if p.dataset == dataset]
    return fingerprint("select", SELECT_VERSION, parts, decided, recipe.output.shard_text)


def record_of(store: Store, recipe: Recipe, manifest: Manifest, dataset: int) -> Record | None:
    """What was selected of a dataset, and what was not.

    `facts["shards"]` lists documents, bytes, kept bytes and digest per shard, `facts["removed"]` part, documents and
    digest per batch of the artefact `removed`.
    """
    return store.find("select", f"select/{manifest.datasets[dataset]}", select_fingerprint(recipe, manifest, dataset))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Datasets whose output shards are to be planned."""
    return [
        Unit(f"select/{name}", select, (recipe, path, dataset), 0)
        for dataset, name in enumerate(manifest.datasets)
        if record_of(store, recipe, manifest, dataset) is None
    ]


@dataclass
class _Shard:
    """An output shard that is being filled."""

    number: int
    columns: list[tuple[np.ndarray, ...]]
    sources: list[pa.ListArray]
    hash: xxhash.xxh3_128
    bytes: int = 0
    kept_bytes: int = 0

    def facts(self) -> dict[str, int | str]:
        documents = sum(len(rows) for _, rows, *_ in self.columns)
        return {
            "documents": documents,
            "bytes": self.bytes,
            "kept_bytes": self.kept_bytes,
            "digest": self.hash.hexdigest(),
        }

    def batch(self) -> pa.RecordBatch:
        columns = [np.concatenate(column) for column in zip(*self.columns, strict=True)]
        return pa.RecordBatch.from_arrays([*map(pa.array, columns), pa.concat_arrays(self.sources)], schema=SELECTION)


def select(store: Store, recipe: Recipe, path: str, dataset: int) -> Done:
    """Plans the output shards of one dataset, reading its documents' sizes part by part."""
    manifest = manifests.load(store, path)
    name, fp = manifest.datasets[dataset], select_fingerprint(recipe, manifest, dataset)
    shards: list[dict[str, int | str]] = []
    total = documents = 0
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/select", SELECTION)
        removed = _Removed(ArrowFile(outputs, store, "work/removed", REMOVED))
        decisions = decide.Decisions(store, recipe, manifest)
        for shard in _shards(store, recipe, manifest, dataset, decisions, removed):
            file.write(shard.batch())
            shards.append(shard.facts())
            documents += int(shards[-1]["documents"])
            total += shard.bytes
        artefacts = {
            "selection": file.finish(f"work/select/{name}.{fp[:12]}.arrow"),
            "removed": removed.file.finish(f"work/removed/{name}.{fp[:12]}.arrow"),
        }
        counts, facts = {"documents": documents, "bytes": total}, {"shards": shards, "removed": removed.facts}
        store.commit(Record("select", f"select/{name}", fp, artefacts, counts, facts))
    return Done(documents, 0)


class _Removed:
    """The rows that parts lose."""

    def __init__(self, file: ArrowFile) -> None:
        self.file = file
        self.facts: list[dict[str, int | str]] = []

    def add(self, part: int, rows: np.ndarray) -> None:
        if len(rows):
            self.file.write(pa.RecordBatch.from_arrays([pa.array(rows)], schema=REMOVED))
            self.facts.append({"part": part, "documents": len(rows), "digest": xxhash.xxh3_128_hexdigest(rows.data)})


def _shards(
    store: Store,
    recipe: Recipe,
    manifest: Manifest,
    dataset: int,
    decisions: "decide.Decisions",
    removed: _Removed,
) -> Iterator[_Shard]:
    current: _Shard | None = None
    cutter = tokens.Cutter(recipe.output.shard_text)
    names = np.array([xxhash.xxh3_64_intdigest(name.encode()) for name in manifest.datasets], np.uint64)
    for index, part in enumerate(manifest.parts):
        if part.dataset != dataset or not part.rows:
            continue
        gone = (decisions.removed(part.first, part.stop) - part.first).astype(np.uint32)
        removed.add(index, np.sort(gone))
        for shard, rows, columns, sources, table in _cut(store, part, index, gone, cutter, decisions):
            if current is None or current.number != shard:
                if current is not None:
                    yield current
                current = _Shard(shard, [], [], xxhash.xxh3_128())
            current.columns.append(columns)
            current.sources.append(sources)
            _note(current, part, rows, columns, sources, names, table)
    if current is not None:
        yield current


def _cut(
    store: Store, part: Part, index: int, gone: np.ndarray, cutter: "tokens.Cutter", decisions: "decide.Decisions"
) -> Iterator[tuple[int, np.ndarray, tuple[np.ndarray, ...], pa.ListArray, pa.Table]]:
    """The surviving rows of a part, by the output shard that they go to."""
    table = read_table(store, part.documents)
    survives = np.ones(part.rows, bool)
    survives[gone] = False
    rows = np.flatnonzero(survives).astype(np.uint32)
    if not len(rows):
        return
    shard, batch = cutter.cut(table["kept_bytes"].to_numpy()[rows])
    counts, sources = decisions.duplicates(part.first + rows.astype(np.int64))
    for low, high in runs(shard):
        here = slice(low, high)
        columns = (np.full(high - low, index, np.uint32), rows[here], batch[here].astype(np.uint32), counts[here])
        yield int(shard[low]), rows[here], columns, sources.slice(low, high - low), table


def _note(
    shard: _Shard,
    part: Part,
    rows: np.ndarray,
    columns: tuple[np.ndarray, ...],
    sources: pa.ListArray,
    names: np.ndarray,
    table: pa.Table,
) -> None:
    """Adds to a shard's digest everything that its file will be made of: the datasets by name, not by rank."""
    shard.bytes += int(table["bytes"].to_numpy()[rows].sum())
    shard.kept_bytes += int(table["kept_bytes"].to_numpy()[rows].sum())
    shard.hash.update(f"{part.file}\n{part.keep}\n".encode())
    for column in columns[1:]:
        shard.hash.update(np.ascontiguousarray(column).data)
    shard.hash.update(np.diff(sources.offsets.to_numpy()).data)
    shard.hash.update(names[sources.flatten().to_numpy()].data)


def selection(store: Store, record: Record, shard: int) -> pa.RecordBatch:
    """The documents (of SELECTION) of one output shard; none where the dataset has no documents and so no shards."""
    if not record.facts["shards"]:
        return pa.RecordBatch.from_pylist([], SELECTION)
    return open_arrow(store, record.artefacts["selection"]).get_batch(shard)


def removed_rows(store: Store, record: Record, batch: int) -> np.ndarray:
    """int64, ascending: the rows that one part loses, by its number in `facts["removed"]`."""
    return rows_in(store, record.artefacts["removed"], batch)


def rows_in(store: Store, removed: Artefact, batch: int) -> np.ndarray:
    """The same, for who has no record but its artefact."""
    rows: np.ndarray = open_arrow(store, removed).get_batch(batch)["row"].to_numpy()
    return rows.astype(np.int64)
