"""Against: indexes of documents from elsewhere. What one holds, and whether a recipe's documents can be held to it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.commits import Artefact, Record, Store, read_record
from zydaflow.recipe import Recipe
from zydaflow.storage import AnyPath, below, path_of

RECORD = "index.json"
STAGE = "index"
INDEX_VERSION = 1
PLACES = ["file", "position", "id", "text_hash", "bytes"]  # columns of an index


def schema(permutations: int, exact: tuple[str, ...]) -> pa.Schema:
    """A row per document of an index: its place and id, and what others are compared with it by.

    `text_hash` and `bytes` are as in stages.keeping.DOCUMENTS, `signature` as in stages.sketching, `exact.NAME` as in
    stages.keys.
    """
    return pa.schema(
        [
            ("file", pa.string()),
            ("position", pa.int64()),
            ("id", pa.string()),
            ("text_hash", pa.binary(16)),
            ("bytes", pa.int64()),
            ("signature", pa.list_(pa.uint32(), permutations)),
            *((f"exact.{name}", pa.binary(16)) for name in exact),
        ]
    )


@dataclass(frozen=True)
class IndexPart:
    """One file (of `schema`) of an index: documents of one dataset, numbered first … first + rows - 1."""

    dataset: int
    first: int
    rows: int
    file: Artefact

    @property
    def stop(self) -> int:
        return self.first + self.rows

    @property
    def keep(self) -> str:
        """What tells its documents from others."""
        return self.file.xxh3

    @property
    def documents(self) -> Artefact:
        return self.file

    @property
    def signatures(self) -> Artefact:
        return self.file


def load(folder: str) -> Record:
    """What an index is made of: `artefacts` are its files, `unit` is its name.

    `facts` has `parameters` (of job.sketch_parameters), `exact`, and `datasets`, each of which is a folder of files.
    Raises InputError where it, or a file of it, is missing or damaged.
    """
    path = path_of(folder) / RECORD
    record = read_record(path)
    if record is None or record.stage != STAGE:
        what = "cannot be read" if path.exists() else "is not there"
        raise InputError(f"dedup.against: {path} {what}; `zydaflow dedup index OUT -o {folder}` makes an index")
    lost = [artefact.path for artefact in record.artefacts.values() if not Store(folder).intact(artefact)]
    if lost:
        raise InputError(f"dedup.against: {folder} lacks {lost[0]}, wholly or in part; copy or make the index again")
    return record


def folders(recipe: Recipe) -> tuple[str, ...]:
    """Of the recipe's indexes."""
    return recipe.dedup.against if recipe.dedup else ()


def missing(recipe: Recipe) -> Iterator[str]:
    """What is wrong with the indexes themselves, a line for each that cannot be read."""
    for folder in folders(recipe):
        try:
            load(folder)
        except InputError as error:
            yield str(error)


def check(recipe: Recipe) -> None:
    """Raises RecipeError for indexes that the recipe's documents cannot be held against, or told apart."""
    records = {folder: load(folder) for folder in folders(recipe)}
    for folder, record in records.items():
        other = _differing(record, recipe)
        if other:
            raise RecipeError(
                f"dedup.against: {folder} is of documents that were compared in another way:\n{other}\n"
                "Give the recipe the values of the index, or make the index from a run with those of the recipe"
            )
    twice = [name for name, count in Counter(record.unit for record in records.values()).items() if count > 1]
    if twice or len(records) < len(folders(recipe)):
        named = f"several indexes are of runs with the name {twice[0]}" if twice else "an index is named twice"
        raise RecipeError(f"dedup.against: {named}: the evidence could not tell them apart")


def _differing(record: Record, recipe: Recipe) -> str:
    from zydaflow.stages.job import sketch_parameters  # which needs datasketch

    assert recipe.dedup is not None
    there, here = record.facts["parameters"], sketch_parameters(recipe)
    lines = [
        f"  {key}: {_told(there.get(key))} there, {_told(here.get(key))} here"
        for key in sorted(there.keys() | here.keys())
        if there.get(key) != here.get(key)
    ]
    lines += [f"  exact: {name} only here" for name in recipe.dedup.exact if name not in record.facts["exact"]]
    return "\n".join(lines)


def _told(value: Any) -> str:
    return " ".join(str(value[key]) for key in sorted(value)) if isinstance(value, dict) else str(value)


def numbered(recipe: Recipe, datasets: int, first: int) -> tuple[tuple[str, ...], tuple[IndexPart, ...]]:
    """The datasets of the recipe's indexes, as INDEX:DATASET, and their parts, whose files have absolute paths.

    Datasets are numbered from `datasets` on, documents from `first` on.
    """
    names: list[str] = []
    parts: list[IndexPart] = []
    for folder in folders(recipe):
        record = load(folder)
        for name in record.facts["datasets"]:
            for path in sorted(path for path in record.artefacts if path.startswith(f"{name}/")):
                file = elsewhere(record.artefacts[path], folder)
                parts.append(IndexPart(datasets + len(names), first, file.rows, file))
                first += file.rows
            names.append(f"{record.unit}:{name}")
    return tuple(names), tuple(parts)


def elsewhere(artefact: Artefact, root: AnyPath) -> Artefact:
    """The file of another folder, for stores of any."""
    return replace(artefact, path=str(below(path_of(root), artefact.path)))
