"""Tokenize: selected documents → the Arrow shards of the corpus."""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version

import numpy as np
import orjson
import pyarrow as pa

from zydaflow import tokens
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import batches, read_table
from zydaflow.recipe import Recipe, TokenizerSpec, fingerprint
from zydaflow.signals import SIGNALS
from zydaflow.stages import manifest as manifests
from zydaflow.stages import select
from zydaflow.stages.job import all_signals
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.runs import runs
from zydaflow.stages.unit import Done, Unit

TOKENIZE_VERSION = 1
Source = str | TokenizerSpec | None  # what the tokenizer is loaded from; None for text shards
CHECKED = 16  # documents of each shard that are compared with the reference tokenizer


def signal_fields(recipe: Recipe) -> list[pa.Field]:
    """The signals that go into the corpus."""
    return [pa.field(name, SIGNALS[name].type) for name in all_signals(recipe)] if recipe.output.signals else []


def _schema(recipe: Recipe, model: tokens.Tokenizer | None) -> pa.Schema:
    carried = any(dataset.metadata for dataset in recipe.datasets)
    return tokens.token_schema(model.dtype if model else None, recipe.output.text, signal_fields(recipe), carried)


def file_of(dataset: str, shard: int, shards: int) -> str:
    """Where an output shard lies below the output folder."""
    return f"corpus/{dataset}/data-{shard:05d}-of-{shards:05d}.arrow"


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str, tokenizer: Source) -> list[Unit]:
    """Output shards to be written."""
    todo = []
    for dataset, name in enumerate(manifest.datasets):
        shards = planned(store, recipe, manifest, dataset)
        for shard, facts in enumerate(shards):
            fp = shard_fingerprint(recipe, tokenizer, facts, shard, len(shards))
            unit = file_of(name, shard, len(shards))
            if store.find("tokenize", unit, fp) is None:
                todo.append(Unit(unit, tokenize, (recipe, path, tokenizer, dataset, shard, fp), facts["kept_bytes"]))
    return todo


def records(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source) -> Iterator[Record]:
    """The records of the output shards and of their folders, those that are there."""
    for dataset, name in enumerate(manifest.datasets):
        shards = planned(store, recipe, manifest, dataset)
        found = [
            store.find(
                "tokenize", file_of(name, k, len(shards)), shard_fingerprint(recipe, tokenizer, facts, k, len(shards))
            )
            for k, facts in enumerate(shards)
        ]
        files = [record for record in found if record is not None]
        yield from files
        folder = store.find("folder", f"corpus/{name}", _folder_fingerprint(files))
        if folder is not None:
            yield folder


def planned(store: Store, recipe: Recipe, manifest: Manifest, dataset: int) -> list[dict]:
    """The output shards of a dataset; one without documents where nothing survived, since a folder needs a file."""
    record = select.record_of(store, recipe, manifest, dataset)
    assert record is not None, f"{manifest.datasets[dataset]} is not selected"
    return record.facts["shards"] or [{"documents": 0, "bytes": 0, "kept_bytes": 0, "digest": ""}]


def shard_fingerprint(recipe: Recipe, tokenizer: Source, facts: dict, shard: int, shards: int) -> str:
    """Of one output file's bytes."""
    tokenized = tokens.load(tokenizer).fingerprint if tokenizer else None
    carried = any(dataset.metadata for dataset in recipe.datasets)
    fields = [
        recipe.output.text,
        carried,
        [str(field) for field in signal_fields(recipe)],
        [d.name for d in recipe.datasets],
    ]
    written_by = [version(library) for library in ("datasets", "pyarrow")]
    return fingerprint("tokenize", TOKENIZE_VERSION, tokenized, facts["digest"], fields, written_by, shard, shards)


def withdraw_stale(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source) -> None:
    """Forgets output shards of another recipe: the files of this one take their names."""
    current = set()
    for dataset, name in enumerate(manifest.datasets):
        shards = planned(store, recipe, manifest, dataset)
        current |= {
            (file_of(name, k, len(shards)), shard_fingerprint(recipe, tokenizer, facts, k, len(shards)))
            for k, facts in enumerate(shards)
        }
    for record in list(store.records("tokenize")):
        if (record.unit, record.fingerprint) not in current:
            store.withdraw(record)
            for artefact in record.artefacts.values():
                store.path(artefact.path).unlink(missing_ok=True)


def tokenize(store: Store, recipe: Recipe, path: str, tokenizer: Source, dataset: int, shard: int, fp: str) -> Done:
    """Writes one output shard."""
    manifest = manifests.load(store, path)
    record = select.record_of(store, recipe, manifest, dataset)
    assert record is not None
    shards = max(1, len(record.facts["shards"]))
    name = manifest.datasets[dataset]
    model = tokens.load(tokenizer) if tokenizer else None
    schema = _schema(recipe, model)
    counts = {"documents": 0, "bytes": 0, "tokens": 0}
    size = 0
    with ExitStack() as outputs:
        out = outputs.enter_context(store.create(f"corpus/{name}"))
        writer = tokens.ShardWriter(out, schema)
        chosen = select.selection(store, record, shard)
        for rows in _batches(_rows(store, recipe, manifest, chosen)):
            texts = rows["text"].combine_chunks()
            encoded = model.encode(texts) if model else None
            if model and encoded:
                tokens.check_sample(model, texts, encoded, max(1, CHECKED * len(texts) // len(chosen)))
                counts["tokens"] += len(encoded.ids)
            for batch in tokens.token_batches(schema, rows, name, encoded, manifest.datasets):
                writer.write(batch)
            counts["documents"] += len(texts)
            counts["bytes"] += int(np.sum(rows["bytes"].to_numpy()))
            size += texts.nbytes
        writer.finish()
        artefact = out.finish(file_of(name, shard, shards), counts["documents"])
        facts = {"dataset": name, "shard": shard, "shards": shards}
        store.commit(Record("tokenize", artefact.path, fp, {"shard": artefact}, counts, facts))
    return Done(counts["documents"], size)


def _rows(store: Store, recipe: Recipe, manifest: Manifest, chosen: pa.RecordBatch) -> Iterator[pa.Table]:
    """The chosen documents in order, with text and all that describes them, in chunks as they lie in the kept files."""
    numbers = chosen["part"].to_numpy()
    for low, high in runs(numbers):
        yield from _rows_of_part(store, recipe, manifest.parts[int(numbers[low])], chosen.slice(low, high - low))


def _rows_of_part(store: Store, recipe: Recipe, part: Part, chosen: pa.RecordBatch) -> Iterator[pa.Table]:
    documents = read_table(store, part.documents)
    names = [field.name for field in signal_fields(recipe)]
    signals = read_table(store, part.signals) if names else None
    rows = chosen["row"].to_numpy().astype(np.int64)
    start = 0
    for kept in batches(store, part.text):
        low, high = np.searchsorted(rows, [start, start + len(kept)])
        if high > low:
            here = pa.array(rows[low:high])
            table = pa.Table.from_batches([kept]).take(pa.array(rows[low:high] - start))
            described = documents.take(here)
            for column in described.column_names:
                table = table.append_column(column, described[column])
            for column in ("batch", "n_duplicates", "duplicate_sources"):
                table = table.append_column(column, chosen[column].slice(low, high - low))
            for column in names:
                table = table.append_column(column, _signal(signals, column, described["signal_row"]))
            yield table.append_column("file", pa.array([part.file] * len(table), pa.string()))
        start += len(kept)


def _signal(signals: pa.Table | None, name: str, rows: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    assert signals is not None
    if name not in signals.column_names:  # this dataset is not measured by it
        return pa.nulls(len(rows), SIGNALS[name].type)
    return signals[name].take(rows)


def _batches(rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, cut by their number of batch instead of by where they came from."""
    waiting: list[pa.Table] = []
    number = -1
    for table in rows:
        numbers = table["batch"].to_numpy()
        for low, high in runs(numbers):
            if waiting and numbers[low] != number:
                yield pa.concat_tables(waiting).combine_chunks()
                waiting = []
            number = int(numbers[low])
            waiting.append(table.slice(low, high - low))
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def write_folders(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source) -> None:
    """Writes what makes each dataset's shards a folder that `datasets.load_from_disk` opens."""
    model = tokens.load(tokenizer) if tokenizer else None
    schema = _schema(recipe, model)
    written = [r for r in records(store, recipe, manifest, tokenizer) if r.stage == "tokenize"]
    for name in manifest.datasets:
        files = [record for record in written if record.facts.get("dataset") == name]
        fp = _folder_fingerprint(files)
        if store.find("folder", f"corpus/{name}", fp):
            continue
        contents = tokens.folder_files(schema, [file.unit.rsplit("/", 1)[1] for file in files], fp)
        for record in list(store.records("folder")):
            if record.unit == f"corpus/{name}":
                store.withdraw(record)  # its files are about to be replaced
        artefacts = {key: store.write(f"corpus/{name}/{key}", orjson.dumps(value)) for key, value in contents.items()}
        store.commit(Record("folder", f"corpus/{name}", fp, artefacts))


def _folder_fingerprint(files: list[Record]) -> str:
    """Of a dataset's folder: the names and contents of its shards."""
    shards = [record.artefacts["shard"] for record in files]
    return fingerprint("folder", TOKENIZE_VERSION, [[shard.path, shard.xxh3] for shard in shards])
