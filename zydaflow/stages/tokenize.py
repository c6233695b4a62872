"""Tokenize: selected documents → the Arrow shards of the corpus."""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version

import numpy as np
import orjson
import pyarrow as pa

from zydaflow import tokens
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import Recipe, TokenizerSpec, fingerprint
from zydaflow.scorers import scorer_fingerprint
from zydaflow.signals import SIGNALS
from zydaflow.stages import manifest as manifests
from zydaflow.stages import previous, select
from zydaflow.stages.encoding import Encoding, Place
from zydaflow.stages.job import all_signals
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.rows import rows_of
from zydaflow.stages.runs import runs
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

TOKENIZE_VERSION = 2
Source = str | TokenizerSpec | None  # what the tokenizer is loaded from; None for text shards
CHECKED = 16  # documents of each shard that are compared with the reference tokenizer


def signal_fields(recipe: Recipe) -> list[pa.Field]:
    """The signals that go into the corpus."""
    return [pa.field(name, SIGNALS[name].type) for name in all_signals(recipe)] if recipe.output.signals else []


def _scorers(recipe: Recipe) -> list[str]:
    """The fingerprints of those whose scores go into the corpus."""
    return [scorer_fingerprint(spec) for spec in recipe.scorers.values()] if recipe.output.signals else []


def _schema(recipe: Recipe, model: tokens.Tokenizer | None) -> pa.Schema:
    carried = any(dataset.carried for dataset in recipe.datasets)
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
                arguments = (recipe, path, tokenizer, dataset, shard, fp)
                todo.append(Unit(unit, tokenize, arguments, facts["kept_bytes"], careful=True))
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
    carried = any(dataset.carried for dataset in recipe.datasets)
    fields = [recipe.output.text, carried, [str(field) for field in signal_fields(recipe)], *_scorers(recipe)]
    written_by = [version(library) for library in ("datasets", "pyarrow")]
    return fingerprint("tokenize", TOKENIZE_VERSION, tokenized, facts["digest"], fields, written_by, shard, shards)


def withdraw_stale(store: Store, recipe: Recipe, manifest: Manifest, tokenizer: Source) -> None:
    """Forgets output shards of another recipe, whose names the files of this one take; their rows may be of use."""
    current = set()
    for dataset, name in enumerate(manifest.datasets):
        shards = planned(store, recipe, manifest, dataset)
        current |= {
            (file_of(name, k, len(shards)), shard_fingerprint(recipe, tokenizer, facts, k, len(shards)))
            for k, facts in enumerate(shards)
        }
    stale = [record for record in store.records("tokenize") if (record.unit, record.fingerprint) not in current]
    previous.set_aside(store, previous.fingerprint_of(recipe, tokenizer), stale)


def tokenize(
    store: Store,
    recipe: Recipe,
    path: str,
    tokenizer: Source,
    dataset: int,
    shard: int,
    fp: str,
    trouble: Trouble = NONE,
) -> Done:
    """Writes one output shard. After trouble, names the document that made it."""
    manifest = manifests.load(store, path)
    record = select.record_of(store, recipe, manifest, dataset)
    assert record is not None
    shards = max(1, len(record.facts["shards"]))
    name = manifest.datasets[dataset]
    encoding = Encoding(tokenizer, recipe.resources.document_seconds, trouble) if tokenizer else None
    schema, serves = _schema(recipe, encoding.model if encoding else None), previous.fingerprint_of(recipe, tokenizer)
    chosen = select.selection(store, record, shard)
    signals = [field.name for field in signal_fields(recipe)]
    counts = {"documents": 0, "bytes": 0, "tokens": 0}
    made = Done(0, 0)
    with ExitStack() as outputs:
        out = outputs.enter_context(store.create(f"corpus/{name}"))
        writer = tokens.ShardWriter(out, schema)
        for rows in rows_of(store, manifest, chosen, schema, signals, previous.load(store, serves)):
            encoded, fresh = _encoded(encoding, rows, len(chosen)) if encoding else (None, _texts(rows))
            for batch in tokens.token_batches(schema, rows, name, encoded, manifest.datasets):
                writer.write(batch)
            counts["documents"] += len(rows)
            counts["bytes"] += int(np.sum(rows["bytes"].to_numpy()))
            counts["tokens"] += len(encoded.ids) if encoded else 0
            made = Done(made.documents + len(fresh), made.bytes + fresh.nbytes)
        writer.finish()
        artefact = out.finish(file_of(name, shard, shards), counts["documents"])
        facts = {"dataset": name, "shard": shard, "shards": shards, "serves": serves, "parts": _parts(manifest, chosen)}
        store.commit(Record("tokenize", artefact.path, fp, {"shard": artefact}, counts, facts))
    return made


def _parts(manifest: Manifest, chosen: pa.RecordBatch) -> list[tuple[str, int]]:
    """What the shard's rows are from, in order: the kept text of a part, and how many of its documents."""
    numbers = chosen["part"].to_numpy()
    return [(manifest.parts[numbers[low]].keep, high - low) for low, high in runs(numbers)]


def _texts(rows: pa.Table) -> pa.LargeStringArray:
    return rows["text"].combine_chunks()


def _encoded(encoding: Encoding, rows: pa.Table, documents: int) -> tuple[tokens.Encoded, pa.LargeStringArray]:
    """The tokens of the rows of a shard of so many documents, and the texts of those that had none yet."""
    ids = rows["input_ids"].combine_chunks()
    missing = ids.is_null().to_numpy(zero_copy_only=False)
    texts = _texts(rows) if missing.all() else _texts(rows).filter(pa.array(missing))
    if not len(texts):
        return _flat(ids), texts
    made = encoding.encode(texts, max(1, CHECKED * len(texts) // documents), _place_in(rows, np.flatnonzero(missing)))
    if len(texts) == len(rows):
        return made, texts
    at = np.empty(len(rows), np.int64)
    at[np.concatenate([np.flatnonzero(~missing), np.flatnonzero(missing)])] = np.arange(len(rows))
    fresh = pa.ListArray.from_arrays(pa.array(made.offsets.astype(np.int32)), pa.array(made.ids))
    return _flat(pa.concat_arrays([ids.drop_null(), fresh]).take(pa.array(at))), texts


def _place_in(rows: pa.Table, numbers: np.ndarray) -> Place:
    """The places of some rows of a shard."""

    def place(row: int) -> str:
        number = int(numbers[row])
        return f"at {rows['position'][number].as_py():,} of {rows['file'][number].as_py()}"

    return place


def _flat(ids: pa.ListArray) -> tokens.Encoded:
    return tokens.Encoded(ids.flatten().to_numpy(), np.cumsum([0, *ids.value_lengths().to_numpy()], dtype=np.int64))


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
