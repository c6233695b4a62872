"""How many tokens each kept document has, whether it was written to the corpus or removed as a duplicate."""

import numpy as np
import pyarrow as pa

from zydaflow.provenance.commits import Artefact, Store
from zydaflow.provenance.scratch import Scratch
from zydaflow.provenance.tables import batches, open_arrow
from zydaflow.recipe import Recipe, TrainSpec
from zydaflow.stages import count, select, tokenize, train
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.tokenize import Source


def counted_by(store: Store, recipe: Recipe, manifest: Manifest) -> Source:
    """The tokenizer that has been through all documents; None while there are some that it has not come to."""
    if recipe.tokenizer is None:
        return None
    if isinstance(recipe.tokenizer, TrainSpec) and train.record_of(store, recipe, manifest) is None:
        return None
    tokenizer = train.tokenizer_of(store, recipe, manifest)
    if tokenize.units(store, recipe, manifest, "", tokenizer) or count.units(store, recipe, manifest, "", tokenizer):
        return None
    return tokenizer


def counts_of(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source, scratch: Scratch) -> np.ndarray:
    """int32 (documents,): the tokens of each document by its number, as a tokenizer of `counted_by` counted them."""
    found = scratch.full(manifest.documents, 0, np.int32)
    selections = [_selection(store, recipe, manifest, dataset) for dataset in range(len(manifest.datasets))]
    by_name = dict(zip(manifest.datasets, selections, strict=True))
    for record in tokenize.records(store, recipe, manifest, tokenizer):
        if record.stage == "tokenize" and record.counts["documents"]:
            chosen = by_name[record.facts["dataset"]].get_batch(record.facts["shard"])
            documents = manifest.firsts[chosen["part"].to_numpy()] + chosen["row"].to_numpy()
            found[documents] = _tokens_in(store, record.artefacts["shard"])
    for part, record in count.records(store, recipe, manifest, tokenizer):
        for batch in batches(store, record.artefacts["tokens"]):
            found[manifest.firsts[part] + batch["row"].to_numpy()] = batch["tokens"].to_numpy()
    return found


def _selection(store: Store, recipe: Recipe, manifest: Manifest, dataset: int) -> pa.ipc.RecordBatchFileReader:
    """The documents of each output shard of a dataset."""
    record = select.record_of(store, recipe, manifest, dataset)
    assert record is not None
    return open_arrow(store, record.artefacts["selection"])


def _tokens_in(store: Store, shard: Artefact) -> np.ndarray:
    """int64: the tokens of each row of an output shard. Raises DamagedArtefact."""
    return np.concatenate([batch["n_tokens"].to_numpy() for batch in pa.ipc.open_stream(store.map(shard))])
