"""Keys: by what documents are equal, and by what copies are chosen; a row for every kept document of a part."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa

from zydaflow.dedup import exact, order
from zydaflow.errors import RecipeError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile, batches, read_table
from zydaflow.recipe import DatasetSpec, DedupSpec, KeepKey, Recipe, fingerprint
from zydaflow.say import warn
from zydaflow.signals import SIGNALS
from zydaflow.signals.metadata import parsed
from zydaflow.stages import manifest as manifests
from zydaflow.stages.against import IndexPart
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.unit import Done, Unit
from zydaflow.suggest import nearest

KEYS_VERSION = 2
OF_EVERY_DOCUMENT = ("length", "date")  # keys of `keep` that are neither signals nor columns


def check(recipe: Recipe) -> None:
    """Raises RecipeError for a key of `keep` that no document can have."""
    columns = {name for dataset in recipe.datasets for name in dataset.carried}
    named = [*OF_EVERY_DOCUMENT, *sorted(columns)]
    told = f"{', '.join(named)}, and the signals that `zydaflow signals` lists"
    for key in recipe.dedup.keep_keys if recipe.dedup else ():
        if key.name not in named and key.name not in SIGNALS:
            wrong = f"dedup.keep: {key.name!r} is no signal, and no dataset has it in its metadata"
            raise RecipeError(wrong + nearest(key.name, [*named, *SIGNALS], told))


def _goes_by_date(recipe: Recipe, dataset: DatasetSpec) -> bool:
    keys = recipe.dedup.keep_keys if recipe.dedup else ()
    return dataset.dedup and dataset.date is not None and any(key.name == "date" for key in keys)


def unread_dates(recipe: Recipe, dataset: DatasetSpec, metadata: pa.Array) -> list[str]:
    """The dates that cannot be read, of documents with this metadata; none where keep does not go by date."""
    if not _goes_by_date(recipe, dataset):
        return []
    return order.unread_dates(_carried(metadata, dataset)(dataset.date or ""))


def about_dates(dataset: str, unread: int, documents: int, example: str) -> str:
    """What to tell of dates that cannot be read."""
    return (
        f"dataset {dataset}: dates of {unread:,} of {documents:,} kept documents cannot be read, like {example!r}; "
        f"keep: date takes them for none. What can be read is {order.DATES}"
    )


def schema(spec: DedupSpec) -> pa.Schema:
    """`exact.NAME` is a hash of 128 bits, zeros for no value; `keep.NAME` is a number or a text."""
    made = [pa.field(f"exact.{name}", pa.binary(16)) for name in spec.exact]
    return pa.schema(made + [pa.field(f"keep.{key.name}", order.VALUE) for key in spec.keep_keys])


def _fingerprint(recipe: Recipe, part: Part) -> str:
    assert recipe.dedup is not None
    dataset = recipe.datasets[part.dataset]
    names = [recipe.dedup.exact, [key.name for key in recipe.dedup.keep_keys]]
    return fingerprint("keys", KEYS_VERSION, part.keep, names, dataset.id, dataset.date, *chosen_by(recipe, part))


def chosen_by(recipe: Recipe, part: Part) -> list[str]:
    """Checksums of a part's scores by which copies are chosen; no other value changes while the kept text stays."""
    keys = recipe.dedup.keep_keys if recipe.dedup else ()
    return [part.scores[key.name].xxh3 for key in keys if key.name in part.scores]


def _compared(recipe: Recipe, part: Part) -> bool:
    """Whether the part's documents take part in deduplication."""
    return recipe.datasets[part.dataset].dedup


def record_of(store: Store, recipe: Recipe, manifest: Manifest, index: int) -> Record | None:
    """The keys of one part."""
    part = manifest.parts[index]
    return store.find("keys", f"keys/{part.keep}", _fingerprint(recipe, part))


def units(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
    """Parts whose keys are to be laid out; none where the recipe names no key."""
    if recipe.dedup is None or not len(schema(recipe.dedup)):
        return []
    reads_text = "text" in recipe.dedup.exact
    return [
        Unit(f"keys/{part.keep}", lay_out, (recipe, path, index), part.text.bytes if reads_text else 0)
        for index, part in enumerate(manifest.parts)
        if _compared(recipe, part) and record_of(store, recipe, manifest, index) is None
    ]


def records(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Record]:
    """The keys that are there, by part."""
    if recipe.dedup is not None and len(schema(recipe.dedup)):
        found = (record_of(store, recipe, manifest, index) for index in range(len(manifest.parts)))
        yield from (record for record in found if record is not None)


def warn_of_dates(store: Store, recipe: Recipe, manifest: Manifest) -> None:
    """Tells of dates that could not be read."""
    unread, documents, examples = Counter[str](), Counter[str](), dict[str, str]()
    for index, part in enumerate(manifest.parts):
        dataset = recipe.datasets[part.dataset]
        record = record_of(store, recipe, manifest, index) if _goes_by_date(recipe, dataset) else None
        if record:
            name = dataset.name
            unread[name] += record.counts["unread_dates"]
            documents[name] += record.counts["documents"]
            for example in record.facts["unread_date"]:
                examples.setdefault(name, example)
    for name, example in examples.items():
        warn(f"warning: {about_dates(name, unread[name], documents[name], example)}")


def lay_out(store: Store, recipe: Recipe, path: str, index: int) -> Done:
    """Writes the keys of one part; reads its text only for `exact: [text]`.

    The record counts `unread_dates` if keep goes by date, and has the first of these in its facts.
    """
    assert recipe.dedup is not None
    part = manifests.load(store, path).parts[index]
    dataset, spec = recipe.datasets[part.dataset], recipe.dedup
    documents = read_table(store, part.documents)
    signals = manifests.signals_of(store, part)
    fp, made = _fingerprint(recipe, part), schema(spec)
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, "work/keys", made)
        start, unread, example = 0, 0, list[str]()
        for kept in batches(store, part.text):
            rows = documents.slice(start, len(kept))
            carried = _carried(kept["metadata"], dataset)
            columns: list[pa.Array] = [_exact(name, dataset, kept, rows, carried) for name in spec.exact]
            columns += [_keep(key, dataset, rows, signals, carried) for key in spec.keep_keys]
            file.write(pa.RecordBatch.from_arrays(columns, schema=made))
            start += len(kept)
            wrong = unread_dates(recipe, dataset, kept["metadata"])
            unread, example = unread + len(wrong), example or wrong[:1]
        artefacts = {"keys": file.finish(f"work/keys/{part.keep}.{fp[:12]}.arrow")}
        counts, facts = {"documents": file.rows, "unread_dates": unread}, {"unread_date": example}
        store.commit(Record("keys", f"keys/{part.keep}", fp, artefacts, counts, facts))
    return Done(part.rows, 0)


def _carried(metadata: pa.Array, dataset: DatasetSpec) -> Callable[[str], Iterator[Any]]:
    """What gives the values of a column that is carried along, document by document."""
    records = [parsed(text) if text else {} for text in metadata.to_pylist()] if dataset.carried else []

    def of(name: str) -> Iterator[Any]:
        return (record.get(name) for record in records) if records else iter([None] * len(metadata))

    return of


def _exact(
    name: str, dataset: DatasetSpec, kept: pa.RecordBatch, rows: pa.Table, carried: Callable[[str], Iterator[Any]]
) -> pa.Array:
    if name == "text":
        return exact.text_hashes(kept["text"])
    if name == dataset.id and name not in dataset.carried:
        return exact.value_hashes(rows["id"].to_pylist())
    return exact.value_hashes(_as_text(value) for value in carried(name))


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, sort_keys=True)


def _keep(
    key: KeepKey, dataset: DatasetSpec, rows: pa.Table, signals: pa.Table, carried: Callable[[str], Iterator[Any]]
) -> pa.Array:
    if key.name == "length":
        return order.column(rows["kept_bytes"].combine_chunks())
    if key.name == "date":
        return order.dates(carried(dataset.date) if dataset.date else [None] * len(rows))
    if key.name in signals.column_names and key.name in SIGNALS:
        return order.column(signals[key.name].take(rows["signal_row"]).combine_chunks())
    return order.values(carried(key.name))


def exact_of(store: Store, recipe: Recipe, manifest: Manifest, documents: np.ndarray) -> np.ndarray:
    """uint64 (m, e, 2): the hashes of the values that make documents, given by number, equal; 0 for no value."""
    assert recipe.dedup is not None
    found = np.zeros((len(documents), len(recipe.dedup.exact), 2), np.uint64)
    if not recipe.dedup.exact:
        return found
    for index, at in manifests.by_part(manifest, documents):
        part = manifest.all_parts[index]
        if isinstance(part, Part) and not _compared(recipe, part):
            continue
        table = _table(store, recipe, manifest, index)
        rows = pa.array(documents[at] - part.first)
        for column, name in enumerate(recipe.dedup.exact):
            if f"exact.{name}" in table.column_names:
                hashes = table[f"exact.{name}"].take(rows).combine_chunks()
                found[at, column] = np.frombuffer(hashes.buffers()[1], np.uint64, 2 * len(at)).reshape(-1, 2)
    return found


def keep_ranks(store: Store, recipe: Recipe, manifest: Manifest, documents: np.ndarray) -> list[np.ndarray]:
    """int64 (m,) for each key of `keep`: where documents, given by number, come in keeper order by it.

    Those of indexes have no values: they never lose.
    """
    assert recipe.dedup is not None
    keys = recipe.dedup.keep_keys
    if not keys or not len(documents):
        return [np.zeros(len(documents), np.int64) for _ in keys]
    pieces, places = [], []
    for index, at in manifests.by_part(manifest, documents):
        part = manifest.all_parts[index]
        columns: list[pa.Array] = [pa.nulls(len(at), order.VALUE) for _ in keys]
        if isinstance(part, Part):
            table, rows = _table(store, recipe, manifest, index), pa.array(documents[at] - part.first)
            columns = [table[f"keep.{key.name}"].take(rows) for key in keys]
        pieces.append(pa.table(columns, [key.name for key in keys]))
        places.append(at)
    back = np.empty(len(documents), np.int64)
    back[np.concatenate(places)] = np.arange(len(documents))
    found = pa.concat_tables(pieces).combine_chunks().take(pa.array(back)).combine_chunks()
    return [order.ranks(found[key.name].chunk(0), key.ascending) for key in keys]


def _table(store: Store, recipe: Recipe, manifest: Manifest, index: int) -> pa.Table:
    part = manifest.all_parts[index]
    if isinstance(part, IndexPart):
        return manifests.table_of(store, part.file)
    record = record_of(store, recipe, manifest, index)
    assert record is not None, f"the keys of part {index} are not laid out"
    return manifests.table_of(store, record.artefacts["keys"])
