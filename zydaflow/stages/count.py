"""Count: the exact tokens of the documents that were removed as duplicates."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow import tokens
from zydaflow.provenance.commits import Artefact, Record, Store, file_name
from zydaflow.provenance.tables import ArrowFile, read_table
from zydaflow.recipe import Recipe, TokenizerSpec, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages import previous, select
from zydaflow.stages.encoding import Encoding, place_in
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.rows import kept_rows
from zydaflow.stages.tokenize import Source
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

COUNT_VERSION = 1
CHECKED = 1  # document of each batch that is compared with the reference tokenizer

TOKENS = pa.schema([("row", pa.uint32()), ("tokens", pa.int32())])  # rows of the part, ascending


class _Loss(NamedTuple):
    """A part that loses documents."""

    part: int
    removed: Artefact  # where its rows are told, among those of its dataset's other parts
    batch: int  # in that
    digest: str


def _losses(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[_Loss]:
    for dataset, name in enumerate(manifest.datasets):
        record = select.record_of(store, recipe, manifest, dataset)
        assert record is not None, f"{name} is not selected"
        for batch, removed in enumerate(record.facts["removed"]):
            yield _Loss(removed["part"], record.artefacts["removed"], batch, removed["digest"])


def _fingerprint(model: tokens.Tokenizer, part: Part, digest: str) -> str:
    return fingerprint("count", COUNT_VERSION, model.fingerprint, part.keep, digest)


def _unit(part: Part) -> str:
    return f"count/{part.keep}"


def records(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source) -> Iterator[tuple[int, Record]]:
    """The counts that are there, ascending by the number of their part in the manifest, which comes with each.

    Artefact `tokens` is of TOKENS; the end of text counts, as in `n_tokens`.
    """
    if tokenizer is None:
        return
    model = tokens.load(tokenizer)
    for loss in _losses(store, recipe, manifest):
        part = manifest.parts[loss.part]
        record = store.find("count", _unit(part), _fingerprint(model, part, loss.digest))
        if record is not None:
            yield loss.part, record


def record_of(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source, part: int) -> Record | None:
    """The count of one part; None where it loses nothing or is not counted. For many parts take `records`."""
    return dict(records(store, recipe, manifest, tokenizer)).get(part)


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str, tokenizer: Source) -> list[Unit]:
    """The parts of which removed documents are to be counted; none without a tokenizer."""
    if tokenizer is None:
        return []
    todo, model = [], tokens.load(tokenizer)
    for loss in _losses(store, recipe, manifest):
        part = manifest.parts[loss.part]
        fp = _fingerprint(model, part, loss.digest)
        if store.find("count", _unit(part), fp) is None:
            todo.append(Unit(_unit(part), count, (recipe, path, tokenizer, *loss[:3], fp), 0, careful=True))
    return todo


def count(
    store: Store,
    recipe: Recipe,
    path: str,
    tokenizer: str | TokenizerSpec,
    index: int,
    removed: Artefact,
    batch: int,
    fp: str,
    trouble: Trouble = NONE,
) -> Done:
    """Counts the tokens of the documents that one part loses, reading the text of those that were not counted yet.

    After trouble, names the document that made it.
    """
    manifest = manifests.load(store, path)
    part, rows = manifest.parts[index], select.rows_in(store, removed, batch)
    serves = previous.fingerprint_of(recipe, tokenizer)
    numbers = _known(store, part, rows, previous.load(store, serves))
    fresh = np.flatnonzero(numbers < 0)
    size = start = 0
    encoding = Encoding(tokenizer, recipe.resources.document_seconds, trouble)
    for kept in kept_rows(store, part, rows[fresh]):
        these = fresh[start : start + len(kept)]
        encoded = encoding.encode(kept["text"], CHECKED, place_in(store, part, rows[these]))
        numbers[these] = np.diff(encoded.offsets)
        start += len(kept)
        size += kept["text"].nbytes
    columns = [pa.array(rows.astype(np.uint32)), pa.array(numbers)]
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/count", TOKENS)
        file.write(pa.RecordBatch.from_arrays(columns, schema=TOKENS))
        artefact = file.finish(f"work/count/{file_name(_unit(part))}.{fp[:12]}.arrow")
        counts = {"documents": len(rows), "tokens": int(numbers.sum(dtype=np.int64))}
        facts = {"dataset": manifest.datasets[part.dataset], "keep": part.keep, "serves": serves}
        store.commit(Record("count", _unit(part), fp, {"tokens": artefact}, counts, facts))
    return Done(len(fresh), size)


def _known(store: Store, part: Part, rows: np.ndarray, before: previous.Previous) -> np.ndarray:
    """int32: the tokens of rows that were counted, or were in the corpus, -1 of the others."""
    numbers = before.counted(part.keep, rows)
    positions = read_table(store, part.documents)["position"].to_numpy()[rows]
    found = before.find(part.keep, positions)
    kept = found.known
    written = [row["n_tokens"].to_numpy() for row in before.take(found.of(kept))]
    numbers[kept] = np.concatenate([np.empty(0, np.int64), *written])
    return numbers
