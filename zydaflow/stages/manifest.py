"""The kept documents of a run, numbered: dataset by rank, then place. All later stages speak of them by these numbers.

A number is only a handle inside one run. It sorts as places do, however the input was cut into shards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.tables import read_table
from zydaflow.recipe import fingerprint
from zydaflow.stages.job import Job
from zydaflow.stages.parts import PreparedPart


@dataclass(frozen=True)
class Part:
    """Consecutive kept documents of one file, numbered first … first + rows - 1."""

    dataset: int
    file: str
    first: int
    rows: int
    keep: str  # fingerprint of the kept text
    signals: Artefact
    text: Artefact
    documents: Artefact
    signatures: Artefact | None

    @property
    def stop(self) -> int:
        return self.first + self.rows


@dataclass(frozen=True)
class Manifest:
    """All parts in the order of their numbers, and the datasets' names by rank."""

    datasets: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def documents(self) -> int:
        return self.parts[-1].stop if self.parts else 0

    @cached_property
    def bounds(self) -> np.ndarray:
        """int64 (datasets + 1,): the documents of dataset d are bounds[d] … bounds[d + 1] - 1."""
        rows = np.zeros(len(self.datasets) + 1, np.int64)
        for part in self.parts:
            rows[part.dataset + 1] += part.rows
        return np.cumsum(rows)

    @cached_property
    def fingerprint(self) -> str:
        """Of the kept text of all documents."""
        return fingerprint("manifest", self.datasets, [[p.dataset, p.file, p.rows, p.keep] for p in self.parts])

    def of(self, dataset: int) -> list[Part]:
        return [part for part in self.parts if part.dataset == dataset]

    def overlapping(self, start: int, stop: int) -> Iterator[Part]:
        """The parts with documents in start … stop - 1."""
        begin = int(np.searchsorted(self._firsts, start, "right")) - 1
        for part in self.parts[max(begin, 0) :]:
            if part.first >= stop:
                return
            if part.stop > start:
                yield part

    @cached_property
    def _firsts(self) -> np.ndarray:
        return np.array([part.first for part in self.parts], np.int64)

    def to_json(self) -> bytes:
        return orjson.dumps({"datasets": self.datasets, "parts": [asdict(part) for part in self.parts]})

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        fields = orjson.loads(data)
        return cls(tuple(fields["datasets"]), tuple(_part(p) for p in fields["parts"]))


def _part(fields: dict[str, Any]) -> Part:
    files = {k: Artefact(**fields[k]) if fields[k] else None for k in ("signals", "text", "documents", "signatures")}
    return Part(**{**fields, **files})


def build(jobs: Sequence[Job], prepared: Sequence[Sequence[PreparedPart]]) -> Manifest:
    """The manifest of everything that is prepared: the parts of each shard, the shards in canonical order."""
    recipe = jobs[0].recipe
    ranks = {dataset.name: rank for rank, dataset in enumerate(recipe.datasets)}
    numbered: list[Part] = []
    first = 0
    for job, shard_parts in zip(jobs, prepared, strict=True):
        for part in shard_parts:
            assert part.keep is not None, f"{job.unit(part.number)} is not prepared"
            rows = part.keep.counts["documents"]
            numbered.append(
                Part(
                    dataset=ranks[job.shard.dataset],
                    file=job.shard.file,
                    first=first,
                    rows=rows,
                    keep=part.keep.fingerprint,
                    signals=part.measure.artefacts["signals"],
                    text=part.keep.artefacts["text"],
                    documents=part.keep.artefacts["documents"],
                    signatures=part.sketch.artefacts["signatures"] if part.sketch else None,
                )
            )
            first += rows
    return Manifest(tuple(d.name for d in recipe.datasets), tuple(numbered))


def save(store: Store, manifest: Manifest) -> str:
    """Writes the manifest where every worker can read it, and returns its place."""
    path = f"work/manifest.{manifest.fingerprint[:12]}.json"
    artefact = store.write(path, manifest.to_json())
    store.commit(Record("manifest", "manifest", manifest.fingerprint, {"manifest": artefact}))
    return path


def record_of(store: Store, manifest: Manifest) -> Record | None:
    return store.find("manifest", "manifest", manifest.fingerprint)


@lru_cache(maxsize=2)
def _load(path: str, modified: int) -> Manifest:
    with open(path, "rb") as file:
        return Manifest.from_json(file.read())


def load(store: Store, path: str) -> Manifest:
    """The manifest at this place, read once per process."""
    full = store.path(path)
    return _load(str(full), full.stat().st_mtime_ns)


@lru_cache(maxsize=2**15)  # below the 65,530 mappings that Linux gives a process
def _mapped(modified: int, root: Path, artefact: Artefact) -> pa.Table:
    return read_table(Store(root), artefact)


def _table(store: Store, artefact: Artefact) -> pa.Table:
    """A part's table, memory-mapped and checked once per process: every task reads a few rows of most parts.

    Raises DamagedArtefact.
    """
    try:
        modified = store.path(artefact.path).stat().st_mtime_ns
    except OSError:
        raise DamagedArtefact(artefact.path, "is missing") from None
    return _mapped(modified, store.root, artefact)


def signature_blocks(
    store: Store, manifest: Manifest, start: int, stop: int, permutations: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Signatures, uint32 (k, permutations), and word counts, int64 (k,), of documents start … stop - 1, not copied."""
    for part in manifest.overlapping(start, stop):
        assert part.signatures is not None
        first, last = max(start, part.first), min(stop, part.stop)
        for batch in _table(store, part.signatures).slice(first - part.first, last - first).to_batches():
            yield batch["signature"].flatten().to_numpy().reshape(-1, permutations), batch["n_words"].to_numpy()


def signatures_of(store: Store, manifest: Manifest, documents: np.ndarray, permutations: int) -> np.ndarray:
    """The signatures, uint32 (m, permutations), of documents given by number."""
    values = np.empty((len(documents), permutations), np.uint32)
    for part, at in _by_part(manifest, documents):
        assert part.signatures is not None
        rows = documents[at] - part.first
        start = 0
        for batch in _table(store, part.signatures).to_batches():
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            block = batch["signature"].flatten().to_numpy().reshape(-1, permutations)
            values[at[low:high]] = block[rows[low:high] - start]
            start += len(batch)
    return values


def documents_of(store: Store, manifest: Manifest, documents: np.ndarray) -> pa.Table:
    """Rows of `DOCUMENTS`, with `dataset` and `file`, of documents given by number."""
    pieces, order = [], []
    for part, at in _by_part(manifest, documents):
        rows = _table(store, part.documents).take(pa.array(documents[at] - part.first))
        count = len(rows)
        rows = rows.append_column("dataset", pa.array([manifest.datasets[part.dataset]] * count, pa.string()))
        pieces.append(rows.append_column("file", pa.array([part.file] * count, pa.string())))
        order.append(at)
    places = np.empty(len(documents), np.int64)
    places[np.concatenate(order)] = np.arange(len(documents))
    return pa.concat_tables(pieces).combine_chunks().take(pa.array(places)).combine_chunks()


def _by_part(manifest: Manifest, documents: np.ndarray) -> Iterator[tuple[Part, np.ndarray]]:
    """The parts that hold some of the documents, and where these stand among all, by ascending number."""
    if not len(documents):
        return
    order = np.argsort(documents, kind="stable")
    ascending = documents[order]
    for part in manifest.overlapping(int(ascending[0]), int(ascending[-1]) + 1):
        low, high = np.searchsorted(ascending, [part.first, part.stop])
        if high > low:
            yield part, order[low:high]
