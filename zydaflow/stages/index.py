"""Index: the documents of a finished run that stay, as signatures to carry elsewhere."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa

from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.commits import Artefact, DamagedArtefact, Record, Store
from zydaflow.provenance.tables import ArrowFile, read_table
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.stages import keys, select
from zydaflow.stages.against import INDEX_VERSION, PLACES, RECORD, STAGE, schema
from zydaflow.stages.finished import Finished, finished, lacking
from zydaflow.stages.job import sketch_parameters
from zydaflow.storage import AnyPath, being_made, path_of

DOCUMENTS = 2**18  # per file, at most


def make(out: AnyPath, to: AnyPath) -> Record:
    """Makes an index of the corpus in `out`, which `against.load` reads; the folder is there when it is whole.

    Datasets with `dedup: false` have no signatures, and are not in it. Memory: one part's signatures of `out`, mapped.
    Raises InputError and RecipeError as `finished` does, RecipeError for a folder that holds anything.
    """
    run, folder = finished(out, ("documents", "signatures")), path_of(to)
    if keys.units(*run, ""):
        raise lacking(run.store, ["keys"])
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecipeError(f"--output: {folder} is no empty folder; give another")
    try:
        with being_made(folder) as new:
            record = _write(run, Store(new))
            Store(new).write(RECORD, record.to_json())  # last: without it the folder is no index
    except DamagedArtefact as damage:
        raise InputError(f"{damage}; `zydaflow verify {out}` tells what else is damaged") from damage
    return record


def _write(run: Finished, new: Store) -> Record:
    assert run.recipe.dedup is not None
    names = [dataset.name for dataset in run.recipe.datasets if dataset.dedup]
    files = [file for name in names for file in _files(run, new, name)]
    facts = {"parameters": sketch_parameters(run.recipe), "exact": list(run.recipe.dedup.exact), "datasets": names}
    fp = fingerprint("index", INDEX_VERSION, facts, [[file.path, file.xxh3] for file in files])
    counts = {"documents": sum(file.rows for file in files)}
    return Record(STAGE, run.recipe.name, fp, {file.path: file for file in files}, counts, facts)


def _files(run: Finished, new: Store, dataset: str) -> Iterator[Artefact]:
    """Writes the files of one dataset."""
    for number, pieces in groupby(_cut(_batches(run, dataset)), itemgetter(0)):
        with ExitStack() as outputs:
            file = ArrowFile(outputs, new, dataset, _schema(run.recipe))
            for _, batch in pieces:
                file.write(batch)
            yield file.finish(f"{dataset}/{number:06d}.arrow")


def _cut(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same documents, each batch with the number of its file."""
    done = 0
    for batch in batches:
        while len(batch):
            piece = batch.slice(0, DOCUMENTS - done % DOCUMENTS)
            yield done // DOCUMENTS, piece
            done, batch = done + len(piece), batch.slice(len(piece))


def _schema(recipe: Recipe) -> pa.Schema:
    assert recipe.dedup is not None
    return schema(recipe.dedup.permutations, recipe.dedup.exact)


def _batches(run: Finished, dataset: str) -> Iterator[pa.RecordBatch]:
    """The documents of a dataset that stay, in order, up to `sketching.BLOCK` at a time."""
    store, recipe, manifest = run
    rank = manifest.datasets.index(dataset)
    selected = select.record_of(store, recipe, manifest, rank)
    if selected is None:
        raise lacking(store, ["decisions"])
    removed = {loss["part"]: batch for batch, loss in enumerate(selected.facts["removed"])}
    for index, part in enumerate(manifest.parts):
        if part.dataset == rank:
            gone = select.removed_rows(store, selected, removed[index]) if index in removed else np.empty(0, np.int64)
            yield from _staying(run, index, gone)


def _staying(run: Finished, index: int, gone: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The documents (of `schema`) of one part that stay."""
    store, recipe, manifest = run
    assert recipe.dedup is not None
    part, permutations = manifest.parts[index], recipe.dedup.permutations
    assert part.signatures is not None
    places, start = read_table(store, part.documents), 0
    for batch in read_table(store, part.signatures).to_batches():
        rows = np.setdiff1d(np.arange(start, start + len(batch)), gone, assume_unique=True)
        values = batch["signature"].flatten().to_numpy().reshape(-1, permutations)[rows - start].reshape(-1)
        start += len(batch)
        known = places.take(pa.array(rows)).append_column("file", pa.array([part.file] * len(rows), pa.string()))
        columns = [
            *(known[name].combine_chunks() for name in PLACES),
            pa.FixedSizeListArray.from_arrays(pa.array(values), permutations),
            *_exact(run, part.first + rows),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=_schema(recipe))


def _exact(run: Finished, documents: np.ndarray) -> Iterator[pa.Array]:
    """The hashes of the values that make documents, given by number, equal: a column for each name in `dedup.exact`."""
    store, recipe, manifest = run
    assert recipe.dedup is not None
    hashes = keys.exact_of(store, recipe, manifest, documents)
    for column in range(len(recipe.dedup.exact)):
        data = pa.py_buffer(np.ascontiguousarray(hashes[:, column]))
        yield pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(documents), [None, data])
