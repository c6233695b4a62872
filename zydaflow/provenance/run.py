"""A run that is there, opened as tables."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as pads
from upath import UPath

from zydaflow.errors import InputError
from zydaflow.provenance import waterfall
from zydaflow.provenance.run_file import RECIPE, RUN, read_run
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.storage import AnyPath, is_local, path_of
from zydaflow.suggest import nearest

if TYPE_CHECKING:
    from datasets import Dataset

    from zydaflow.filters import AnyRule


def open_run(path: AnyPath) -> "Run":
    """Opens the output folder of a run. Raises InputError for a folder that is none."""
    root = path_of(path)
    made_of = read_run(root)
    if made_of is None:
        raise InputError(f"{root}: no {RUN} that can be read, so this is no folder of a run; `zydaflow run` makes one")
    return Run(root, made_of)


@dataclass(frozen=True)
class Run:
    """The tables are those that the recipe stands on now: files of earlier recipes in the same folder are left out."""

    root: UPath
    made_of: dict[str, Any]
    """the contents of `run.json`: versions, machine, every input file, timings"""

    @cached_property
    def recipe(self) -> Recipe:
        """The resolved recipe."""
        return load_recipe(self.root / RECIPE)

    @cached_property
    def statistics(self) -> dict[str, Any]:
        """The contents of `statistics.json`, the datasets by rank. Raises InputError before a run has any."""
        return waterfall.load(self.root)

    @property
    def datasets(self) -> list[str]:
        """The names of the datasets, the best rank first."""
        return [dataset.name for dataset in self.recipe.datasets]

    def rules(self, dataset: str) -> "tuple[AnyRule, ...]":
        """The dataset's rules, in the order in which they count as broken first."""
        from zydaflow.filters import resolve

        return resolve(self.recipe, next(spec for spec in self.recipe.datasets if spec.name == self._known(dataset)))

    def signals(self, dataset: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """One row per record with a place: where it is from, its verdict, the rules it breaks, and its signals.

        Of all datasets, by rank, or of one. With `columns` nothing else is read: the table is as long as the input.
        """
        return self._read(self._signal_files(dataset), columns)

    def signal_batches(self, dataset: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same rows of one dataset, in order, some at a time: for tables that are larger than memory."""
        source = self._open(self._signal_files(dataset), columns)
        with self._readable():
            yield from source.to_batches(columns=list(columns), batch_readahead=2, fragment_readahead=1)

    def _signal_files(self, dataset: str | None) -> list[str]:
        names = self.datasets if dataset is None else [self._known(dataset)]
        files = [file for name in names for file in self._files(f"signals/{name}/")]
        if not files:
            raise InputError(f"{self.root}: no signals yet; `zydaflow run` has not come to their end here")
        return files

    def removed(self) -> pa.Table:
        """One row per document that was removed as a duplicate, with the one that stays instead."""
        from zydaflow.dedup.evidence import REMOVED

        return self._read_or_empty("evidence/removed.parquet", REMOVED)

    def signal_columns(self, dataset: str) -> list[str]:
        """The names of the columns of `signals`."""
        return list(self._open(self._signal_files(dataset), ()).schema.names)

    def removed_batches(self, dataset: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same rows of one dataset, in order, some at a time."""
        files = self._files("evidence/removed.parquet")
        if files:
            source, of_dataset = self._open(files, columns), pads.field("dataset") == self._known(dataset)
            with self._readable():
                yield from source.to_batches(columns=list(columns), filter=of_dataset)

    def clusters(self) -> pa.Table:
        """One row per cluster of documents that candidate pairs link."""
        from zydaflow.dedup.evidence import CLUSTERS

        return self._read_or_empty("evidence/clusters.parquet", CLUSTERS)

    def quarantine(self) -> pa.Table:
        """One row per record that could not be read: dataset, file, position, bytes, reason, excerpt."""
        from zydaflow.sources import QUARANTINE

        place = [pa.field("dataset", pa.string()), pa.field("file", pa.string())]
        return self._read_or_empty("quarantine/", pa.schema([*place, *QUARANTINE]))

    def corpus(self, dataset: str) -> "Dataset":
        """The dataset's documents in the corpus, memory-mapped. Raises InputError before a run has come to them."""
        from datasets import Dataset

        folder = self.root / "corpus" / self._known(dataset)
        if not self._files(f"corpus/{dataset}/"):
            raise InputError(f"{folder}: no corpus yet; `zydaflow run` without --until goes on to it")
        return Dataset.load_from_disk(str(folder))

    def _known(self, dataset: str) -> str:
        if dataset not in self.datasets:
            raise InputError(f"{self.root}: no dataset {dataset!r} in this run, which has {', '.join(self.datasets)}")
        return dataset

    def _files(self, beginning: str) -> list[str]:
        """The run's files whose path below the folder begins so, in order."""
        return sorted(path for path, _ in self.made_of["outputs"] if path.startswith(beginning))

    def _read(self, files: list[str], columns: Sequence[str] | None = None) -> pa.Table:
        source = self._open(files, columns or ())
        with self._readable():
            return source.to_table(columns=None if columns is None else list(columns)).unify_dictionaries()

    def _open(self, files: list[str], columns: Sequence[str]) -> pads.Dataset:
        """Raises InputError for a missing file or column."""
        paths = [(self.root / file).path for file in files]
        with self._readable():
            source = pads.dataset(paths, format="parquet", filesystem=None if is_local(self.root) else self.root.fs)
        for name in columns:
            if name not in source.schema.names:
                raise InputError(f"{self.root}: there is no column {name!r}{nearest(name, source.schema.names)}")
        return source

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(
                f"{self.root}: a table cannot be read: {error}; `zydaflow verify` says what is wrong"
            ) from error

    def _read_or_empty(self, beginning: str, schema: pa.Schema) -> pa.Table:
        files = self._files(beginning)
        return self._read(files) if files else schema.empty_table()
