"""Plan: everything that can be known and checked before text is read."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from upath import UPath

from zydaflow import scorers, sources
from zydaflow.errors import InputError, RecipeError
from zydaflow.patience import from_storage
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.run_file import FOLDERS, RECIPE, STATISTICS, read_run
from zydaflow.recipe import DatasetSpec, Recipe, TokenizerSpec, fingerprint
from zydaflow.recipe.scorer import MEANS
from zydaflow.sources import DatasetPlan, Shard
from zydaflow.stages import against
from zydaflow.storage import (
    TEMPORARY,
    files_below,
    is_local,
    is_url,
    on_this_machine,
    path_of,
    remove,
    room,
    size_of,
    stamp,
)
from zydaflow.version import __version__

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
PROBE = f"{TEMPORARY}probe"  # whether the output folder takes it
DISK_PER_BYTE = 1.9  # what a run leaves in the output folder, per byte of text: measured on eleven real datasets
TEXT_PER_BYTE = {"jsonl": 1.0, "arrow": 1.0}  # text in a byte of a file
TEXT_PER_COMPRESSED_BYTE = 3.5  # in one of a file that is compressed


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
        means: dict[str, Any] = {"resources": True, "output": {"path"}, "scorers": {"__all__": set(MEANS)}}
        recipe = self.recipe.model_dump(mode="json", exclude=means)
        files = [[d.dataset, f.file, f.size, f.version] for d in self.datasets for f in d.files]
        return fingerprint("run", __version__, recipe, files, [[p, _version(p)] for p in side_files(self.recipe)])


def plan(recipe: Recipe, known: Mapping[str, DatasetPlan] = MappingProxyType({})) -> Plan:
    """Looks at the metadata of all input files, but for those of datasets whose plan is `known`.

    Raises InputError for files, columns, models and tokenizers that are not there, all of them in one message.
    """

    def look(dataset: DatasetSpec) -> DatasetPlan:
        return known.get(dataset.name) or sources.plan_dataset(dataset, recipe.resources.shard_bytes)

    with ThreadPoolExecutor(len(recipe.datasets)) as pool:  # some may be far away
        looks = [pool.submit(look, dataset) for dataset in recipe.datasets]
    errors = [str(done.exception()) for done in looks if isinstance(done.exception(), InputError)]
    errors += [
        f"word_lists.{name}: {path}: no such file"
        for name, path in recipe.word_lists.items()
        if not path_of(path).exists()
    ]
    errors += [
        f"url_lists.{name}: {path}: no such file"
        for name, files in recipe.url_lists.model_dump().items()
        for path in files
        if not path_of(path).exists()
    ]
    errors += against.missing(recipe)
    if errors:
        raise InputError("\n".join(errors))
    datasets = tuple(done.result() for done in looks)
    _check_columns(recipe, datasets)
    return Plan(recipe, datasets)


def _check_columns(recipe: Recipe, datasets: tuple[DatasetPlan, ...]) -> None:
    """Raises InputError for rules on columns of types that they are not for."""
    from zydaflow.filters import column_problems

    pairs = zip(recipe.datasets, datasets, strict=True)
    errors = [error for spec, dataset in pairs for error in column_problems(recipe, spec, dataset.columns)]
    if errors:
        raise InputError("\n".join(errors))


def is_finished(plan: Plan) -> bool:
    """Whether the output folder holds this very run, come to its end, with all its files and records."""
    root = path_of(plan.recipe.output.path)
    run = read_run(root)
    if run is None or not run["finished"] or run["fingerprint"] != plan.fingerprint:
        return False
    there = {name: size_of(root / name) for name in (RECIPE, STATISTICS)}
    for folder in {path.partition("/")[0] for path, _ in run["outputs"] if path not in there}:
        there |= {f"{folder}/{name}": size for name, size in files_below(root / folder).items()}
    records = len(files_below(root / "commits"))
    return records == sum(run["records"].values()) and all(there.get(path) == size for path, size in run["outputs"])


def check(recipe: Recipe) -> list[str]:
    """Checks rule sets, signals, word lists, models and tokenizer by loading them, and looks for scorers.

    Raises what they raise.

    Returns warnings: what will work, but not as well as one may expect.
    """
    from zydaflow import dedup, filters, signals, tokens, transforms
    from zydaflow.stages import keys
    from zydaflow.stages.match import split
    from zydaflow.stages.memory import check_models_fit

    scorers.check(recipe)
    keys.check(recipe)
    against.check(recipe)
    for dataset in recipe.datasets:
        rules = filters.resolve(recipe, dataset)
        transforms.fingerprint(recipe.transform_of(dataset))
        needed = filters.signals_needed(recipe, dataset)
        scorers.check_names(recipe, dataset, needed)
        signals.fingerprint(needed, signals.Resources.of(recipe))
        if recipe.language and "language" in needed:
            resources = signals.Resources.of(recipe)
            signals.check_labels(recipe.language.keep or (), resources, "language.keep")
            signals.check_labels(filters.languages_named(rules), resources, "filters: by_language")
        signals.check_models(needed, signals.Resources.of(recipe))
    check_models_fit(recipe)
    warnings = []
    if recipe.dedup:
        warnings.append(dedup.warn_if_blind(recipe.dedup.threshold, *split(recipe.dedup)))
    if isinstance(recipe.tokenizer, str | TokenizerSpec):
        warnings.append(tokens.load(recipe.tokenizer).note)
    return [warning for warning in warnings if warning]


def disk_needed(plan: Plan) -> int:
    """About how many bytes the run will leave in the output folder."""
    text = 0.0
    for spec, dataset in zip(plan.recipe.datasets, plan.datasets, strict=True):
        for shard in {shard.file: shard for shard in dataset.shards}.values():
            text += spec.sample * max(shard.size, 0) * TEXT_PER_BYTE.get(shard.form, TEXT_PER_COMPRESSED_BYTE)
    return int(text * DISK_PER_BYTE)


def check_output(plan: Plan) -> None:
    """Raises RecipeError where the output folder cannot be one, InputError if its disk surely cannot hold the run."""
    root = path_of(plan.recipe.output.path)
    _check_writable(root)
    foreign = [name for name in (RECIPE, STATISTICS, *FOLDERS) if (root / name).exists()]
    if foreign and read_run(root) is None:
        raise RecipeError(
            f"output.path: {root} is no folder of a run, and its {', '.join(foreign)} would be replaced; "
            "give another --out"
        )
    below = f"{str(root).rstrip('/')}/"
    inputs = [file.url for dataset in plan.datasets for file in dataset.files if file.url.startswith(below)]
    if inputs:
        raise RecipeError(f"output.path: {root} holds the input file {inputs[0]}; give another --out")
    if not is_local(root):
        return
    free, need = room(on_this_machine(root)), disk_needed(plan) - _held(root)
    if need > free:
        raise InputError(
            f"output.path: {root} has {megabytes(free)} free, and the run may need {megabytes(need)}; "
            "make space, give another --out, or take a --sample"
        )


def _check_writable(root: UPath) -> None:
    if not is_local(root):
        try:
            from_storage(str(root), lambda: (root / PROBE).write_bytes(b""))
            remove([root / PROBE])
        except ConnectionError:
            raise
        except Exception as error:  # each protocol has its own: no such bucket, no library, no credentials
            raise RecipeError(f"output.path: {root} cannot be written to ({error}); give another --out") from error
        return
    folder = root
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(str(folder), os.W_OK | os.X_OK):
        raise RecipeError(f"output.path: {folder} is no folder that can be written to; give another --out")


def _held(root: UPath) -> int:
    """Bytes of what an earlier run left in the folder, which this one reuses or replaces."""
    return sum(size for name in FOLDERS for size in files_below(root / name).values())


def side_files(recipe: Recipe) -> Iterator[str]:
    """Files besides the text that the result depends on."""
    yield from recipe.word_lists.values()
    yield from (path for files in recipe.url_lists.model_dump().values() for path in files)
    yield from (os.path.join(folder, against.RECORD) for folder in against.folders(recipe))
    yield from scorers.files_of(recipe)
    if recipe.language:
        yield recipe.language.model
    yield from (classifier.model for classifier in recipe.classifiers.values())
    tokenizer: Any = recipe.tokenizer
    path = tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "path", None)
    if path and (os.path.isabs(path) or is_url(path)):
        folder = path_of(path) if path_of(path).is_dir() else path_of(path).parent
        yield from sorted({path, *(str(folder / name) for name in TOKENIZER_FILES)})


def _version(path: str) -> list[int | str] | None:
    file = path_of(path)
    try:
        return [file.stat().st_size, file.stat().st_mtime_ns if is_local(file) else stamp(file)]
    except OSError:
        return None
