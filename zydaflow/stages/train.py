"""Train: a tokenizer from a sample of the documents that stay, where the recipe asks for one."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from zydaflow import tokens
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import open_arrow, read_table
from zydaflow.recipe import Recipe, TokenizerSpec, TrainSpec, fingerprint
from zydaflow.stages import manifest as manifests
from zydaflow.stages import select
from zydaflow.stages.encoding import place_in, refuse_failing
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.reading import time_limit
from zydaflow.stages.rows import kept_rows
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

TRAIN_VERSION = 2
SAMPLE_BYTES = 16_000_000  # of text: enough for the vocabularies that are trained on the spot
FILE = "corpus/tokenizer.json"


def tokenizer_of(store: Store, recipe: Recipe, manifest: Manifest) -> str | TokenizerSpec | None:
    """What workers load the tokenizer from: the recipe's, or the file of the trained one; None for text shards.

    Raises DamagedArtefact where the trained one is not as it was committed.
    """
    if not isinstance(recipe.tokenizer, TrainSpec):
        return recipe.tokenizer
    trained = record_of(store, recipe, manifest)
    assert trained is not None, "the tokenizer is not trained"
    store.map(trained.artefacts["tokenizer"])
    return str(store.path(trained.artefacts["tokenizer"].path))


def _fingerprint(store: Store, recipe: Recipe, manifest: Manifest) -> str:
    selected = [_selected(store, recipe, manifest, d).fingerprint for d in range(len(manifest.datasets))]
    assert isinstance(recipe.tokenizer, TrainSpec)
    return fingerprint("train", TRAIN_VERSION, recipe.tokenizer.model_dump(mode="json"), SAMPLE_BYTES, selected)


def _selected(store: Store, recipe: Recipe, manifest: Manifest, dataset: int) -> Record:
    record = select.record_of(store, recipe, manifest, dataset)
    assert record is not None, f"{manifest.datasets[dataset]} is not selected"
    return record


def record_of(store: Store, recipe: Recipe, manifest: Manifest) -> Record | None:
    """The record of the trained tokenizer."""
    if not isinstance(recipe.tokenizer, TrainSpec):
        return None
    return store.find("train", "train", _fingerprint(store, recipe, manifest))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """The one unit, where a tokenizer is to be trained."""
    if not isinstance(recipe.tokenizer, TrainSpec) or record_of(store, recipe, manifest):
        return []
    return [Unit("train", train, (recipe, path), 0, careful=True)]


def train(store: Store, recipe: Recipe, path: str, trouble: Trouble = NONE) -> Done:
    """Trains on the documents whose hash is small enough, which is about `SAMPLE_BYTES` of the text that stays.

    After trouble, names the document that made it.
    """
    assert isinstance(recipe.tokenizer, TrainSpec)
    manifest = manifests.load(store, path)
    for old in list(store.records("train")):
        store.withdraw(old)  # its file is about to be replaced
    records = [_selected(store, recipe, manifest, d) for d in range(len(manifest.datasets))]
    total = sum(shard["kept_bytes"] for record in records for shard in record.facts["shards"])
    share = min(1.0, SAMPLE_BYTES / max(total, 1))
    vocab_size, seconds = recipe.tokenizer.train.vocab_size, recipe.resources.document_seconds
    if trouble.suspect:
        for part, rows, texts in _texts(store, manifest, records, share):
            refuse_failing(_nothing, _learn, seconds, texts, place_in(store, part, rows))
    with time_limit(seconds, SAMPLE_BYTES):
        content = tokens.train((texts for _, _, texts in _texts(store, manifest, records, share)), vocab_size)
    artefact = store.write(FILE, content.encode())
    store.commit(Record("train", "train", _fingerprint(store, recipe, manifest), {"tokenizer": artefact}))
    return Done(0, int(total * share))


def _nothing() -> None:
    """That has to be done before documents are tried out."""


def _learn(records: pa.RecordBatch) -> None:
    tokens.train([records["text"]], vocab_size=257)  # no more than bytes: it is their words that may do harm


Sample = tuple[manifests.Part, np.ndarray, pa.LargeStringArray]  # of a part: rows and their texts


def _texts(store: Store, manifest: Manifest, records: list[Record], share: float) -> Iterator[Sample]:
    """The sampled texts, in canonical order."""
    for record in records:
        reader = open_arrow(store, record.artefacts["selection"])
        for index in range(reader.num_record_batches):
            chosen = reader.get_batch(index)
            numbers = chosen["part"].to_numpy()
            for part in np.unique(numbers):
                rows = chosen["row"].to_numpy()[numbers == part].astype(np.int64)
                yield from _sampled(store, manifest.parts[int(part)], rows, share)


def _sampled(store: Store, part: manifests.Part, rows: np.ndarray, share: float) -> Iterator[Sample]:
    hashes = read_table(store, part.documents).combine_chunks()["text_hash"].chunk(0)
    first = np.frombuffer(hashes.buffers()[1], ">u8").reshape(-1, 2)[hashes.offset :, 0]
    rows = rows[first[rows] <= share * (2**64 - 1)]
    start = 0
    for kept in kept_rows(store, part, rows):
        yield part, rows[start : start + len(kept)], kept["text"]
        start += len(kept)
