"""A sample of a dataset, measured, judged, kept and sketched as a run does it, in a folder that goes at once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.errors import InputError
from zydaflow.foresight.pieces import Reader
from zydaflow.provenance.commits import Store
from zydaflow.provenance.tables import read_table
from zydaflow.recipe import DatasetSpec, Recipe
from zydaflow.sources import Batch, DatasetPlan
from zydaflow.stages import keys
from zydaflow.stages.job import Job
from zydaflow.stages.parts import PreparedPart, parts_of
from zydaflow.stages.reading import Following, read_part


@dataclass(frozen=True)
class Sampled:
    """What was read of one dataset. Times `scale` it is the whole; `scale` is 1 where all was read."""

    scale: float
    unsized: int  # files that do not tell their size, of which nothing was read
    cut: int  # files and row groups of which only the beginning was read
    bytes: int  # of text as loaded
    read: int  # documents
    kept: int
    longest: int  # bytes of the longest text
    kept_bytes: int
    disk: dict[str, int]  # bytes of the files that `prepare` writes, by folder
    carried_bytes: int  # ids, licences and metadata of the kept
    text: pa.LargeStringArray  # of the kept
    compared: np.ndarray  # int64 (n,): which of the kept are compared, by having words; none without deduplication
    signatures: np.ndarray  # uint32 (n, permutations), of these
    piece: np.ndarray  # int64 (n,), of these: those of one number lay together
    unread_dates: list[str]  # of the kept, where keep goes by date


def take(recipe: Recipe, number: int, plan: DatasetPlan, allowance: float) -> Sampled:
    """Samples dataset `number` of the recipe, reading text up to `allowance` bytes, or all if that is not much more.

    Raises InputError where files cannot be read.
    """
    dataset, rows = recipe.datasets[number], [0]
    reader = Reader(dataset, plan, allowance, recipe.seed)
    try:
        with TemporaryDirectory(prefix="zydaflow-") as folder:
            store, job = Store(folder), Job(recipe, plan.shards[0])
            read_part(store, job, 0, _counting(reader.batches(), rows), Following(), None, {})
            (part,) = parts_of(store, job)
            return _sampled(store, recipe, dataset, part, reader, np.array(rows))
    except OSError as error:
        raise InputError(f"dataset {plan.dataset}: no sample could be taken: {error}") from error


def _counting(source: Iterator[Batch], rows: list[int]) -> Iterator[Batch]:
    """The batches, noting how many records there have been after each."""
    for batch in source:
        rows.append(rows[-1] + len(batch.records))
        yield batch


def _sampled(
    store: Store, recipe: Recipe, dataset: DatasetSpec, part: PreparedPart, reader: Reader, rows: np.ndarray
) -> Sampled:
    assert part.keep is not None
    measured = read_table(store, part.measure.artefacts["signals"]).select(["bytes"])
    documents = read_table(store, part.keep.artefacts["documents"])
    kept = read_table(store, part.keep.artefacts["text"])
    piece = np.searchsorted(rows, documents["signal_row"].to_numpy(), side="right")
    disk = Counter[str]()
    for artefact in (a for record in part.records.values() for a in record.artefacts.values()):
        disk[_folder(artefact.path)] += artefact.bytes
    permutations = recipe.dedup.permutations if recipe.dedup else 0
    signatures, compared = np.empty((len(kept), permutations), np.uint32), np.empty(0, np.int64)
    if part.sketch:
        table = read_table(store, part.sketch.artefacts["signatures"]).combine_chunks()
        compared = np.flatnonzero(table["n_words"].to_numpy())
        signatures = table["signature"].combine_chunks().flatten().to_numpy().reshape(-1, permutations)
    return Sampled(
        scale=reader.scale,
        unsized=reader.unsized,
        cut=reader.cut,
        bytes=part.measure.counts["read_bytes"],
        read=part.measure.counts["read"],
        kept=len(kept),
        longest=pc.max(measured["bytes"]).as_py() or 0,
        kept_bytes=part.keep.counts["kept_bytes"],
        disk=dict(disk),
        carried_bytes=documents["id"].nbytes + kept["license"].nbytes + kept["metadata"].nbytes,
        text=kept["text"].combine_chunks(),
        compared=compared,
        signatures=signatures[compared],
        piece=piece[compared],
        unread_dates=keys.unread_dates(recipe, dataset, kept["metadata"]),
    )


def _folder(path: str) -> str:
    """work/kept of work/kept/blog/…, signals of signals/blog/…"""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] == "work" else 1])
