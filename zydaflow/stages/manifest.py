"""The kept documents of a run, numbered: dataset by rank, then place. All later stages speak of them by these numbers.

A number is only a handle inside one run. It sorts as places do, however the input was cut into shards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.tables import read_table
from zydaflow.recipe import fingerprint
from zydaflow.signals.scores import PREFIX
from zydaflow.stages import against
from zydaflow.stages.against import IndexPart
from zydaflow.stages.job import Job
from zydaflow.stages.parts import PreparedPart
from zydaflow.stages.scores import aligned
from zydaflow.storage import AnyPath, is_local, path_of, read, stamp

MOST = 2**32 - 2  # documents that stages with 32 bits for a document can tell apart


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
    scores: dict[str, Artefact] = field(default_factory=dict)  # by signal

    @property
    def stop(self) -> int:
        return self.first + self.rows


@dataclass(frozen=True)
class Manifest:
    """All parts in the order of their numbers, and the datasets' names by rank.

    Documents of indexes have the numbers after those of the run's own, and their datasets too.
    """

    datasets: tuple[str, ...]
    parts: tuple[Part, ...]
    indexes: tuple[str, ...] = ()  # datasets of indexes, as INDEX:DATASET
    indexed: tuple[IndexPart, ...] = ()

    @property
    def documents(self) -> int:
        """The run's own."""
        return self.parts[-1].stop if self.parts else 0

    @property
    def numbers(self) -> int:
        """Documents with those of indexes."""
        return self.indexed[-1].stop if self.indexed else self.documents

    @property
    def names(self) -> tuple[str, ...]:
        """Of all datasets, by number."""
        return self.datasets + self.indexes

    @cached_property
    def all_parts(self) -> tuple[Part | IndexPart, ...]:
        """Those of indexes last."""
        return (*self.parts, *self.indexed)

    @cached_property
    def bounds(self) -> np.ndarray:
        """int64 (names + 1,): the documents of dataset d are bounds[d] … bounds[d + 1] - 1."""
        rows = np.zeros(len(self.names) + 1, np.int64)
        for part in self.all_parts:
            rows[part.dataset + 1] += part.rows
        return np.cumsum(rows)

    @cached_property
    def fingerprint(self) -> str:
        """Of the kept text of all documents."""
        own = [[p.dataset, p.file, p.rows, p.keep] for p in self.parts]
        return fingerprint("manifest", self.names, own, [[p.dataset, p.rows, p.keep] for p in self.indexed])

    def of(self, dataset: int) -> list[Part]:
        return [part for part in self.parts if part.dataset == dataset]

    def overlapping(self, start: int, stop: int) -> Iterator[Part]:
        """The run's own parts with documents in start … stop - 1."""
        return _overlapping(self.parts, self.firsts[: len(self.parts)], start, stop)

    def all_overlapping(self, start: int, stop: int) -> Iterator[Part | IndexPart]:
        """All parts with documents in start … stop - 1."""
        return _overlapping(self.all_parts, self.firsts, start, stop)

    @cached_property
    def firsts(self) -> np.ndarray:
        """int64 (all parts,): the first document of each part."""
        return np.array([part.first for part in self.all_parts], np.int64)

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        fields = orjson.loads(data)
        indexed = (IndexPart(**{**part, "file": Artefact(**part["file"])}) for part in fields["indexed"])
        parts = (_part(part) for part in fields["parts"])
        return cls(tuple(fields["datasets"]), tuple(parts), tuple(fields["indexes"]), tuple(indexed))


def elsewhere(part: Part, root: AnyPath) -> Part:
    """The part with absolute paths of its files, which lie below `root`: for stores of other folders."""
    return replace(
        part,
        signals=against.elsewhere(part.signals, root),
        text=against.elsewhere(part.text, root),
        documents=against.elsewhere(part.documents, root),
        signatures=part.signatures and against.elsewhere(part.signatures, root),
        scores={name: against.elsewhere(file, root) for name, file in part.scores.items()},
    )


_AnyPart = TypeVar("_AnyPart", Part, Part | IndexPart)


def _overlapping(parts: Sequence[_AnyPart], firsts: np.ndarray, start: int, stop: int) -> Iterator[_AnyPart]:
    begin = int(np.searchsorted(firsts, start, "right")) - 1
    for part in parts[max(begin, 0) :]:
        if part.first >= stop:
            return
        if part.stop > start:
            yield part


def _part(fields: dict[str, Any]) -> Part:
    files = {k: Artefact(**fields[k]) if fields[k] else None for k in ("signals", "text", "documents", "signatures")}
    scores = {name: Artefact(**file) for name, file in fields["scores"].items()}
    return Part(**{**fields, **files, "scores": scores})


def build(jobs: Sequence[Job], prepared: Sequence[Sequence[PreparedPart]]) -> Manifest:
    """The manifest of everything that is prepared: the parts of each shard, the shards in canonical order.

    Raises InputError for more documents than can be compared.
    """
    recipe = jobs[0].recipe
    ranks = {dataset.name: rank for rank, dataset in enumerate(recipe.datasets)}
    numbered: list[Part] = []
    first = 0
    for job, shard_parts in zip(jobs, prepared, strict=True):
        assert [part.next for part in shard_parts][-1:] == [None], f"{job.shard.name} is not measured to its end"
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
                    scores={PREFIX + name: record.artefacts["scores"] for name, record in part.scores.items()},
                )
            )
            first += rows
    datasets = tuple(dataset.name for dataset in recipe.datasets)
    manifest = Manifest(datasets, tuple(numbered), *against.numbered(recipe, len(datasets), first))
    if recipe.dedup and manifest.numbers > MOST:
        raise InputError(
            f"{manifest.numbers:,} documents are left to compare, and one run compares up to {MOST:,}: run some of the "
            "datasets alone, and the others with dedup.against an index of their result (`zydaflow dedup index`)"
        )
    return manifest


def save(store: Store, manifest: Manifest) -> str:
    """Writes the manifest where every worker can read it, and returns its place."""
    path = f"work/manifest.{manifest.fingerprint[:12]}.json"
    artefact = store.write(path, manifest.to_json())
    store.commit(Record("manifest", "manifest", manifest.fingerprint, {"manifest": artefact}))
    return path


def record_of(store: Store, manifest: Manifest) -> Record | None:
    return store.find("manifest", "manifest", manifest.fingerprint)


@lru_cache(maxsize=2)
def _load(path: str, stamped: str) -> Manifest:
    return Manifest.from_json(read(path_of(path)))


def load(store: Store, path: str) -> Manifest:
    """The manifest at this place, read once per process."""
    full = store.path(path)
    return _load(str(full), stamp(full))


def _read(stamped: str, root: str, artefact: Artefact) -> pa.Table:
    return read_table(Store(root), artefact)


_mapped = lru_cache(maxsize=2**15)(_read)  # below the 65,530 mappings that Linux gives a process
_fetched = lru_cache(maxsize=64)(_read)  # copies, which fill TMPDIR


def table_of(store: Store, artefact: Artefact) -> pa.Table:
    """A part's table, memory-mapped and checked once per process: every task reads a few rows of most parts.

    Raises DamagedArtefact.
    """
    path = store.path(artefact.path)
    try:
        stamped = stamp(path)
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedArtefact(artefact.path, "is missing") from None
    return (_mapped if is_local(path) else _fetched)(stamped, str(store.root), artefact)


def signals_of(store: Store, part: Part) -> pa.Table:
    """The signals of a part's documents, kept or not, with their scores."""
    table = read_table(store, part.signals)
    for name, file in part.scores.items():
        table = table.append_column(name, aligned(table_of(store, file), table["position"].to_numpy()))
    return table


def signature_blocks(
    store: Store, manifest: Manifest, start: int, stop: int, permutations: int
) -> Iterator[tuple[int, np.ndarray]]:
    """The signatures of documents start … stop - 1, not copied: the first one's number and uint32 (k, permutations).

    Parts of datasets that are not compared have none.
    """
    for part in manifest.all_overlapping(start, stop):
        if part.signatures is None:
            continue
        first, last = max(start, part.first), min(stop, part.stop)
        for batch in table_of(store, part.signatures).slice(first - part.first, last - first).to_batches():
            yield first, batch["signature"].flatten().to_numpy().reshape(-1, permutations)
            first += len(batch)


def fill_signatures(store: Store, manifest: Manifest, documents: np.ndarray, values: np.ndarray) -> None:
    """Writes the signatures of m documents, given by number, to `values`, uint32 (m, permutations)."""
    permutations = values.shape[1]
    for index, at in by_part(manifest, documents):
        part = manifest.all_parts[index]
        assert part.signatures is not None
        rows = documents[at] - part.first
        start = 0
        for batch in table_of(store, part.signatures).to_batches():
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            block = batch["signature"].flatten().to_numpy().reshape(-1, permutations)
            values[at[low:high]] = block[rows[low:high] - start]
            start += len(batch)


def hashes_of(store: Store, manifest: Manifest, documents: np.ndarray) -> np.ndarray:
    """The text hashes, uint8 (m, 16), of documents given by number."""
    hashes = np.empty((len(documents), 16), np.uint8)
    for index, at in by_part(manifest, documents):
        part = manifest.all_parts[index]
        taken = table_of(store, part.documents)["text_hash"].take(pa.array(documents[at] - part.first)).combine_chunks()
        hashes[at] = np.frombuffer(taken.buffers()[1], np.uint8, 16 * len(at)).reshape(-1, 16)
    return hashes


def documents_of(store: Store, manifest: Manifest, documents: np.ndarray) -> pa.Table:
    """Rows of `DOCUMENTS`, with `dataset` and `file`, of documents given by number.

    Of a document of an index nothing is known but its place, id, hash and bytes.
    """
    pieces, order = [], []
    for index, at in by_part(manifest, documents):
        part = manifest.all_parts[index]
        table = table_of(store, part.documents)
        if isinstance(part, IndexPart):
            table = table.select(against.PLACES)
        rows = table.take(pa.array(documents[at] - part.first))
        count = len(rows)
        rows = rows.append_column("dataset", pa.array([manifest.names[part.dataset]] * count, pa.string()))
        if isinstance(part, Part):
            rows = rows.append_column("file", pa.array([part.file] * count, pa.string()))
        pieces.append(rows)
        order.append(at)
    places = np.empty(len(documents), np.int64)
    places[np.concatenate(order)] = np.arange(len(documents))
    found = pa.concat_tables(pieces, promote_options="default")
    return found.combine_chunks().take(pa.array(places)).combine_chunks()


def by_part(manifest: Manifest, documents: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The parts, as places in `all_parts`, that hold some of the documents, and where these stand among all of them.

    By ascending number.
    """
    if not len(documents):
        return
    order = np.argsort(documents, kind="stable")
    ascending = documents[order]
    begin = int(np.searchsorted(manifest.firsts, ascending[0], "right")) - 1
    for index in range(max(begin, 0), len(manifest.all_parts)):
        part = manifest.all_parts[index]
        low, high = np.searchsorted(ascending, [part.first, part.stop])
        if high > low:
            yield index, order[low:high]
        if high == len(ascending):
            return
