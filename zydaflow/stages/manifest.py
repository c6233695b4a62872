"""The kept documents of a run, numbered: dataset by rank, then place. All later stages speak of them by these numbers.

A number is only a handle inside one run. It sorts as places do, however the input was cut into shards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from zydaflow.provenance.commits import Artefact, Record, Store
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


def signatures_of(
    store: Store, manifest: Manifest, documents: np.ndarray, permutations: int
) -> tuple[np.ndarray, np.ndarray]:
    """The signatures, uint32 (m, permutations), and word counts, int64 (m,), of documents given by ascending number."""
    values = np.empty((len(documents), permutations), np.uint32)
    words = np.empty(len(documents), np.int64)
    for part, here in _by_part(manifest, documents):
        assert part.signatures is not None
        rows = documents[here] - part.first
        at = here.start
        start = 0
        for batch in read_table(store, part.signatures).to_batches():
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            picked = rows[low:high] - start
            block = batch["signature"].flatten().to_numpy().reshape(-1, permutations)
            values[at + low : at + high] = block[picked]
            words[at + low : at + high] = batch["n_words"].to_numpy()[picked]
            start += len(batch)
    return values, words


def documents_of(store: Store, manifest: Manifest, documents: np.ndarray) -> pa.Table:
    """Rows of `DOCUMENTS`, with `dataset` and `file`, of documents given by ascending number."""
    pieces = []
    for part, here in _by_part(manifest, documents):
        rows = read_table(store, part.documents).take(pa.array(documents[here] - part.first))
        count = len(rows)
        rows = rows.append_column("dataset", pa.array([manifest.datasets[part.dataset]] * count, pa.string()))
        pieces.append(rows.append_column("file", pa.array([part.file] * count, pa.string())))
    return pa.concat_tables(pieces).combine_chunks()


def _by_part(manifest: Manifest, documents: np.ndarray) -> Iterator[tuple[Part, slice]]:
    """The parts that hold some of the documents, and where in the ascending numbers those stand."""
    if not len(documents):
        return
    for part in manifest.overlapping(int(documents[0]), int(documents[-1]) + 1):
        low, high = np.searchsorted(documents, [part.first, part.stop])
        if high > low:
            yield part, slice(int(low), int(high))
