"""What the folder's corpus had of documents before: their tokens and text are taken from there, not made again.

Before new output shards take their names, those that no longer stand move to `work/previous/`. One record names them,
with the parts that their rows are from, and the counts of removed documents. The sweep at the end of a run takes them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow import tokens
from zydaflow.provenance.commits import Artefact, Record, Store, file_name
from zydaflow.provenance.tables import read_table
from zydaflow.recipe import Recipe, TokenizerSpec, fingerprint
from zydaflow.stages.runs import runs
from zydaflow.storage import move, remove, stamp

PREVIOUS_VERSION = 1
STAGE = "previous"


def fingerprint_of(recipe: Recipe, tokenizer: str | TokenizerSpec | None) -> str:
    """Of what a row is, but for its document: the rows of one recipe serve another that has the same."""
    tokenized = tokens.load(tokenizer).fingerprint if tokenizer else None
    return fingerprint(STAGE, PREVIOUS_VERSION, tokenized, recipe.output.text)


def set_aside(store: Store, fp: str, stale: Sequence[Record]) -> None:
    """Withdraws output shards, after moving those of use to where `load` finds them.

    Killed anywhere, the same call goes on.
    """
    before = store.find(STAGE, STAGE, fp)
    artefacts = dict(before.artefacts) if before else {}
    shards, counts = (dict(before.facts["shards"]), dict(before.facts["counts"])) if before else ({}, {})
    for record in _of_use(stale, fp):
        moved = _moved(store, record)
        if store.intact(moved):
            artefacts[moved.path], shards[moved.path] = moved, record.facts["parts"]
    for record in _of_use(store.records("count") if stale else (), fp):
        counted = record.artefacts["tokens"]
        if store.intact(counted):
            artefacts[counted.path], counts[counted.path] = counted, record.facts["keep"]
    if stale and artefacts:
        store.commit(Record(STAGE, STAGE, fp, artefacts, facts={"shards": shards, "counts": counts}))
    for record in stale:
        store.withdraw(record)
        remove([store.path(record.artefacts["shard"].path)])


def _of_use(records: Iterable[Record], fp: str) -> Iterator[Record]:
    return (record for record in records if record.facts.get("serves") == fp and record.counts["documents"])


def _moved(store: Store, record: Record) -> Artefact:
    """The shard under its new name; it is there already where an earlier call was killed after moving it."""
    shard = record.artefacts["shard"]
    moved = replace(shard, path=f"work/previous/{file_name(record.unit)}.{record.fingerprint[:12]}.arrow")
    if store.intact(shard):
        move(store.path(shard.path), store.path(moved.path))
    return moved


class Found(NamedTuple):
    """Where rows are: in which of the shards, int64 (n,), -1 where in none, and which row of it, int64 (n,)."""

    shard: np.ndarray
    row: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """bool (n,)"""
        return self.shard >= 0

    def of(self, which: slice | np.ndarray) -> "Found":
        """Some of them."""
        return Found(self.shard[which], self.row[which])


class Previous:
    """The rows that were set aside, found by part (the fingerprint of its kept text) and place."""

    def __init__(self, store: Store, record: Record | None) -> None:
        self._store = store
        facts = record.facts if record else {"shards": {}, "counts": {}}
        self._files = [record.artefacts[path] for path in facts["shards"]] if record else []
        self._segments: dict[str, list[tuple[int, int, int]]] = {}
        for shard, parts in enumerate(facts["shards"].values()):
            start = 0
            for keep, rows in parts:
                self._segments.setdefault(keep, []).append((shard, start, start + rows))
                start += rows
        self._counts: dict[str, list[Artefact]] = {}
        for path, keep in facts["counts"].items():
            assert record is not None
            self._counts.setdefault(keep, []).append(record.artefacts[path])

    def find(self, keep: str, positions: np.ndarray) -> Found:
        """Where the documents of a part at these places are. Raises DamagedArtefact."""
        found = Found(np.full(len(positions), -1, np.int64), np.zeros(len(positions), np.int64))
        for shard, start, stop in self._segments.get(keep, ()):
            there = self._shard(shard)["source_position"].slice(start, stop - start).to_numpy()
            at = np.searchsorted(there, positions)
            hit = there[np.minimum(at, len(there) - 1)] == positions
            found.shard[hit], found.row[hit] = shard, start + at[hit]
        return found

    def take(self, found: Found) -> Iterator[pa.RecordBatch]:
        """The rows, as columns of a shard, in this order; they are read where they lie. Raises DamagedArtefact."""
        for low, high in runs(found.shard):
            batches = self._shard(int(found.shard[low])).to_batches()
            starts = np.cumsum([0, *map(len, batches)])
            rows = found.row[low:high]
            numbers = np.searchsorted(starts, rows, "right") - 1
            for first, last in runs(numbers):
                batch = int(numbers[first])
                yield batches[batch].take(pa.array(rows[first:last] - starts[batch]))

    def counted(self, keep: str, rows: np.ndarray) -> np.ndarray:
        """int32: the tokens of removed rows of a part, -1 where they were not counted. Raises DamagedArtefact."""
        tokens = np.full(len(rows), -1, np.int32)
        for artefact in self._counts.get(keep, ()):
            table = read_table(self._store, artefact)
            there = table["row"].to_numpy()
            at = np.minimum(np.searchsorted(there, rows), len(there) - 1)
            hit = there[at] == rows
            tokens[hit] = table["tokens"].to_numpy()[at[hit]]
        return tokens

    def _shard(self, number: int) -> pa.Table:
        return _opened(str(self._store.root), self._files[number])


@lru_cache(maxsize=1024)
def _opened(root: str, artefact: Artefact) -> pa.Table:
    """A shard, memory-mapped and checked once per process: every part that it has rows of asks for it."""
    return pa.ipc.open_stream(Store(root).map(artefact)).read_all()


def load(store: Store, fp: str) -> Previous:
    """What was set aside for recipes of this fingerprint, read once per process."""
    try:
        stamped = stamp(store.path(Record(STAGE, STAGE, fp).name))
    except FileNotFoundError:
        return Previous(store, None)
    return _loaded(str(store.root), fp, stamped)


@lru_cache(maxsize=2)
def _loaded(root: str, fp: str, stamped: str) -> Previous:
    store = Store(root)
    return Previous(store, store.find(STAGE, STAGE, fp))
