"""The shard plan of a dataset: its files, their columns checked, and the pieces in which they are read."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zydaflow.errors import InputError, RunError
from zydaflow.sources.arrow import arrow_schema, arrow_source, count_batches
from zydaflow.sources.forms import form_of
from zydaflow.sources.hub import HF, HUB, list_hf_files, list_hub_files
from zydaflow.sources.installed import INSTALLED, INSTALLED_COLUMNS, installed_file
from zydaflow.sources.listing import InputFile, list_files
from zydaflow.sources.open import explained, is_local, opened
from zydaflow.sources.parquet import group_sizes, open_parquet
from zydaflow.sources.peek import first_records, types_of
from zydaflow.sources.records import Columns, columns_of
from zydaflow.sources.scalars import is_text
from zydaflow.sources.shard import Shard

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

THREADS = 16  # files that are looked at at once: their storage may be far away


@dataclass(frozen=True)
class DatasetPlan:
    """What a dataset consists of; nothing here needed its text."""

    dataset: str
    files: tuple[InputFile, ...]  # in canonical order: bytewise by `file`
    shards: tuple[Shard, ...]  # by file, then start
    columns: dict[str, str]  # name → type, as the files have them


class _Look(NamedTuple):
    """What a glance at one file tells."""

    columns: dict[str, str]
    text_ok: bool  # the text column, where there is one, holds strings; of JSON Lines, in the first records
    ranges: list[tuple[int, int]]  # (start, stop) of its shards
    problem: str | None = None  # why none of its first lines is a record, though there are lines


def plan_dataset(dataset: "DatasetSpec", shard_bytes: int) -> DatasetPlan:
    """The files and shards of a dataset, from file metadata alone (of JSON Lines, the first records are looked at).

    Raises InputError where a file or a column that the recipe names is missing, with what there is instead, and where
    no file begins with a record; RunError where storage fails in a way that may pass.
    """
    columns = columns_of(dataset)
    try:
        files = _files(dataset)
        _refuse_twins(dataset, files)
        wholes = [_whole(dataset, file) for file in files]
        with ThreadPoolExecutor(1 if all(is_local(file.url) for file in files) else THREADS) as pool:
            looks = list(pool.map(lambda whole: _look(whole, columns, shard_bytes), wholes))
    except ConnectionError as error:
        raise RunError(
            f"dataset {dataset.name}: the storage does not answer: {error}. This may pass: run the same command again"
        ) from error
    except OSError as error:
        raise InputError(f"dataset {dataset.name}: {dataset.path} cannot be reached: {error}") from error
    _check_records(dataset, wholes, looks)
    _check_columns(dataset, columns, wholes, looks)
    seen = {name: kind for look in reversed(looks) for name, kind in look.columns.items()}
    shards = [replace(w, start=a, stop=b) for w, look in zip(wholes, looks, strict=True) for a, b in look.ranges]
    return DatasetPlan(dataset.name, tuple(files), tuple(shards), seen)


def _files(dataset: "DatasetSpec") -> list[InputFile]:
    if dataset.path.startswith(INSTALLED):
        return [installed_file(dataset)]
    if dataset.path.startswith(HUB):
        return list_hub_files(dataset)
    if dataset.path.startswith(HF):
        return list_hf_files(dataset)
    with explained(dataset.path):
        return list_files(dataset)


def _refuse_twins(dataset: "DatasetSpec", files: list[InputFile]) -> None:
    for one, other in pairwise(files):
        if one.file == other.file:
            raise InputError(
                f"dataset {dataset.name}: {one.url} and {other.url} are both {one.file} in it, "
                "so their records could not be told apart; make two datasets of them"
            )


def _whole(dataset: "DatasetSpec", file: InputFile) -> Shard:
    form = "installed" if dataset.path.startswith(INSTALLED) else form_of(file.file)
    assert form is not None  # the listings have only files of known forms
    return Shard(dataset.name, file.url, file.file, form, 0, -1, file.size, file.version)


def _look(whole: Shard, columns: Columns, shard_bytes: int) -> _Look:
    """The columns and shards of one file."""
    if whole.form == "installed":
        return _Look(dict.fromkeys(INSTALLED_COLUMNS, "string"), True, [(0, -1)])
    if whole.form == "parquet":
        with opened(whole, cache="none") as file, open_parquet(whole.url, file) as parquet:
            sizes = group_sizes(parquet.metadata, columns.names)
            return _schema_look(whole, parquet.schema_arrow, columns, _grouped(sizes, shard_bytes))
    if whole.form == "arrow":
        with opened(whole) as file, arrow_source(whole.url, file) as source:
            schema = arrow_schema(source)
            if not is_local(whole.url):  # counting the batches of a stream would fetch it
                return _schema_look(whole, schema, columns, [(0, -1)])
            n = count_batches(source, whole.url)
            return _schema_look(whole, schema, columns, _grouped([whole.size // max(n, 1)] * n, shard_bytes))
    ranges = [(0, -1)]
    if whole.form == "jsonl" and whole.size >= 0:
        ranges = [(a, min(a + shard_bytes, whole.size)) for a in range(0, max(whole.size, 1), shard_bytes)]
    first = first_records(whole)
    types = types_of(first.records)
    kinds = types.get(columns.text, "string").split(" or ")
    return _Look(types, "string" in kinds or "null" in kinds, ranges, first.problem)


def _schema_look(whole: Shard, schema: pa.Schema, columns: Columns, ranges: list[tuple[int, int]]) -> _Look:
    for name in columns.names:
        if (count := schema.names.count(name)) > 1:
            raise InputError(
                f"{whole.url}: {count} columns are called {name!r}, and only one can be meant; rename them"
            )
    i = schema.get_field_index(columns.text)
    return _Look({field.name: str(field.type) for field in schema}, i < 0 or is_text(schema.field(i).type), ranges)


def _grouped(sizes: list[int], shard_bytes: int) -> list[tuple[int, int]]:
    """Runs (start, stop) of consecutive pieces, each of at most `shard_bytes` unless a single piece is larger."""
    ranges, start, size = [], 0, 0
    for i, piece in enumerate(sizes):
        if i > start and size + piece > shard_bytes:
            ranges.append((start, i))
            start, size = i, 0
        size += piece
    return [*ranges, (start, len(sizes))]


def _check_records(dataset: "DatasetSpec", wholes: list[Shard], looks: list[_Look]) -> None:
    """Refuses a dataset none of whose files begins with a record, of which everything would go to the quarantine."""
    if any(look.columns for look in looks):
        return
    for whole, look in zip(wholes, looks, strict=True):
        if look.problem is not None:
            raise InputError(
                f"dataset {dataset.name}: {whole.url}: none of its first lines is a JSON object; {look.problem}"
            )


def _check_columns(dataset: "DatasetSpec", columns: Columns, wholes: list[Shard], looks: list[_Look]) -> None:
    """Refuses columns that are not there: text, id and licence in a file, metadata in every file.

    A record of JSON Lines may leave out what is null: there only the text must be among the first records of each file,
    and in one of the files a string.
    """
    keys = [("text", columns.text), ("id", columns.id), ("license", columns.license)]
    keys += [("metadata", name) for name in columns.metadata]
    for key, name in keys:
        if name is None:
            continue
        lacking = [i for i, look in enumerate(looks) if look.columns and name not in look.columns]
        strict = [i for i in lacking if key == "text" or (key != "metadata" and not wholes[i].form.startswith("jsonl"))]
        if strict or (lacking and not any(name in look.columns for look in looks)):
            i = (strict or lacking)[0]
            key = {dataset.url: "url", dataset.date: "date"}.get(name, key) if key == "metadata" else key
            raise InputError(
                f"dataset {dataset.name}: {wholes[i].url} has no column {name!r}, which {key}: names in the recipe; "
                f"it has {', '.join(looks[i].columns)}"
            )
    no_text = not any(look.text_ok for look in looks)
    for whole, look in zip(wholes, looks, strict=True):
        if not look.text_ok and (no_text or not whole.form.startswith("jsonl")):
            raise InputError(
                f"dataset {dataset.name}: column {columns.text!r} of {whole.url} is {look.columns[columns.text]}, "
                f"not string; set text: to the column that holds the text, it has {', '.join(look.columns)}"
            )
