"""Plan: everything that can be known and checked before text is read."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from zydaflow import __version__, sources
from zydaflow.errors import InputError
from zydaflow.provenance.run_file import read_run
from zydaflow.recipe import Recipe, TokenizerSpec, fingerprint
from zydaflow.sources import DatasetPlan, Shard

# What a run leaves in the output folder at its fullest, per byte of text read; measured on prose (see README).
DISK_PER_BYTE = 2.0


@dataclass(frozen=True)
class Plan:
    """The input of a run, file by file, and how it is cut into shards."""

    recipe: Recipe
    datasets: tuple[DatasetPlan, ...]

    @cached_property
    def shards(self) -> list[Shard]:
        """All shards in canonical order: datasets by rank, files bytewise, then where they begin."""
        return [shard for dataset in self.datasets for shard in dataset.shards]

    @cached_property
    def bytes(self) -> int:
        """Bytes of all input files as they are stored."""
        return sum(file.size for dataset in self.datasets for file in dataset.files)

    @cached_property
    def fingerprint(self) -> str:
        """Of the whole run: the recipe (less where it writes, and with what means) and the versions of its inputs."""
        recipe = self.recipe.model_dump(mode="json", exclude={"resources": True, "output": {"path"}})
        files = [[d.dataset, f.file, f.size, f.version] for d in self.datasets for f in d.files]
        return fingerprint("run", __version__, recipe, files, [[p, _version(p)] for p in side_files(self.recipe)])


def plan(recipe: Recipe) -> Plan:
    """Looks at the metadata of all input files.

    Raises InputError for files, columns, models and tokenizers that are not there, all of them in one message.
    """
    found, errors = [], []
    for dataset in recipe.datasets:
        try:
            found.append(sources.plan_dataset(dataset, recipe.resources.shard_bytes))
        except InputError as error:
            errors.append(str(error))
    errors += [
        f"word_lists.{name}: {path}: no such file"
        for name, path in recipe.word_lists.items()
        if not os.path.exists(path)
    ]
    if errors:
        raise InputError("\n".join(errors))
    return Plan(recipe, tuple(found))


def is_finished(plan: Plan) -> bool:
    """Whether the output folder holds this very run, come to its end, with all its files that count."""
    root = Path(plan.recipe.output.path)
    run = read_run(root)
    if run is None or not run["finished"] or run["fingerprint"] != plan.fingerprint:
        return False
    return all((root / path).exists() and (root / path).stat().st_size == size for path, size in run["outputs"])


def check(recipe: Recipe) -> list[str]:
    """Checks rule sets, signals, word lists, language model and tokenizer by loading them. Raises what they raise.

    Returns warnings: what will work, but not as well as one may expect.
    """
    from zydaflow import dedup, filters, signals, tokens, transforms
    from zydaflow.stages.match import split

    for dataset in recipe.datasets:
        filters.resolve(recipe, dataset)
        transforms.fingerprint(recipe.transform_of(dataset))
        signals.fingerprint(filters.signals_needed(recipe, dataset), signals.Resources.of(recipe))
    warnings = []
    if recipe.dedup:
        warnings.append(dedup.warn_if_blind(recipe.dedup.threshold, *split(recipe.dedup)))
    if isinstance(recipe.tokenizer, str | TokenizerSpec):
        warnings.append(tokens.load(recipe.tokenizer).note)
    return [warning for warning in warnings if warning]


def check_disk(recipe: Recipe, size: int) -> None:
    """Raises InputError if the output folder's disk surely cannot hold the run."""
    folder = Path(recipe.output.path)
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    need = int(size * DISK_PER_BYTE)
    if need > free:
        raise InputError(
            f"output.path: {folder} has {free / 1e9:.1f} GB free, and {size / 1e9:.1f} GB of input may need "
            f"{need / 1e9:.1f} GB; make space, give another --out, or take a --sample"
        )


def side_files(recipe: Recipe) -> Iterator[str]:
    """Local files besides the text that the result depends on."""
    yield from recipe.word_lists.values()
    if recipe.language:
        yield recipe.language.model
    tokenizer: Any = recipe.tokenizer
    path = tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "path", None)
    if path and os.path.isabs(path):
        yield path


def _version(path: str) -> list[int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
