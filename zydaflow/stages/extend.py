"""Extend: the plan of a run over old and new datasets that reads raw text of the new ones alone."""

from collections.abc import Sequence, Set
from typing import Any

from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.commits import DamagedArtefact, Record, Store
from zydaflow.provenance.run_file import RUN, read_run
from zydaflow.recipe import DatasetSpec, Recipe
from zydaflow.sources import DatasetPlan, InputFile
from zydaflow.stages import inputs
from zydaflow.stages.job import Job
from zydaflow.stages.judging import keep_stored
from zydaflow.stages.parts import PreparedPart, parts_of
from zydaflow.stages.plan import Plan, is_finished, plan

WORK = {
    inputs.STAGE: "list of files",
    "score": "scores",
    "measure": "signals",
    "keep": "kept text",
    "sketch": "signatures",
}


def extension(recipe: Recipe, drop: Sequence[str] = ()) -> Plan:
    """The plan of a run in the recipe's output folder: the files of datasets that it holds already are not looked at.

    Where the folder is that of the recipe already, that is all, and nothing of `work/` need be there. `drop` has the
    names of the datasets that it holds and the recipe does not. Raises InputError where the folder holds no finished
    run, or no longer what is needed of it; RecipeError where the text of a dataset that it holds would have to be read
    again, or where one is missing that is not to be dropped; and what `plan` raises for the others.
    """
    store = Store(recipe.output.path)
    same = _as_it_is(recipe, _finished(store))
    if is_finished(same):
        return same
    before: dict[str, list[Record]] = {}
    for record in store.records(inputs.STAGE):
        before.setdefault(record.unit, []).append(record)
    if not before:
        raise InputError(f"{store.root}: commits/{inputs.STAGE} is missing, so what the run has read is not known")
    _check_dropped(store, recipe, before.keys(), drop)
    known: dict[str, DatasetPlan] = {}
    errors: list[InputError | RecipeError] = []
    for dataset in recipe.datasets:
        if dataset.name in before:
            try:
                known[dataset.name] = _as_before(store, recipe, dataset, before[dataset.name])
            except (InputError, RecipeError) as error:
                errors.append(error)
    if errors:
        advice = (
            f"`extend` reads no raw text of old datasets; `zydaflow run RECIPE --out {store.root}` does, where it must"
        )
        raise type(errors[0])("\n".join([*map(str, errors), advice]))
    return plan(recipe, known)


def refuse_another(recipe: Recipe) -> None:
    """Raises RecipeError where the output folder holds a finished run with another name, which would be replaced."""
    root = recipe.output.path
    run = read_run(root)
    if run and run["finished"] and run["name"] != recipe.name:
        raise RecipeError(
            f"output.path: {root} holds the finished run {run['name']}, and this is {recipe.name}; give another --out, "
            f"remove the folder, or add datasets to it with `zydaflow extend {root} RECIPE`"
        )


def _check_dropped(store: Store, recipe: Recipe, before: Set[str], drop: Sequence[str]) -> None:
    """Raises where a dataset would go that is not to go, or the other way round."""
    names = {dataset.name for dataset in recipe.datasets}
    if missing := sorted(before - names - set(drop)):
        raise RecipeError(
            f"{store.root} holds {', '.join(missing)}, and the recipe does not; it names all datasets, old and new. "
            f"Add what is missing, or let it go with --drop {','.join(missing)}"
        )
    if both := sorted(names & set(drop)):
        raise RecipeError(f"--drop: the recipe names {', '.join(both)}; leave that out of one")


def _as_it_is(recipe: Recipe, run: dict[str, Any]) -> Plan:
    """The plan of the recipe over the files that the run has read, if they are its own."""
    files = [(file["dataset"], InputFile(*(file[key] for key in InputFile._fields))) for file in run["inputs"]]
    names = [dataset.name for dataset in recipe.datasets]
    datasets = (DatasetPlan(name, tuple(file for of, file in files if of == name), (), {}) for name in names)
    return Plan(recipe, tuple(datasets))


def _finished(store: Store) -> dict[str, Any]:
    """What is told of the run in the folder.

    An extension that was killed counts as what it began with: none of that goes before it has come to its end.
    """
    run = read_run(store.root)
    if run is None:
        raise InputError(f"{store.root}: no {RUN} that can be read, so this is no folder of a run")
    if not any(told["finished"] for told in run["runs"]):
        raise InputError(f"{store.root}: the run has not come to its end; `zydaflow run` goes on with it")
    return run


def _as_before(store: Store, recipe: Recipe, dataset: DatasetSpec, before: list[Record]) -> DatasetPlan:
    """The files and shards of a dataset that is read as before, and of which everything is there."""
    now = inputs.reading(recipe, dataset)
    record = next((record for record in before if not inputs.differing(record, now)), None)
    if record is None:
        keys = inputs.differing(before[-1], now)
        raise RecipeError(f"dataset {dataset.name}: other than in {store.root}: {'; '.join(keys)}")
    try:
        planned = inputs.load(store, record)
    except DamagedArtefact:
        raise _gone(store, dataset.name) from None
    for shard in planned.shards:
        job = Job(recipe, shard)
        parts = parts_of(store, job)
        if not parts or parts[-1].next is not None:
            raise _gone(store, dataset.name)
        for part in parts:
            if part.scores.keys() != job.scorers.keys():
                raise _gone(store, dataset.name)
            if part.keep is None:
                _check_kept(store, job, part)
    return planned


def _check_kept(store: Store, job: Job, part: PreparedPart) -> None:
    """Raises where the kept text of a part is not the one that the recipe's rules lead to."""
    unit, keep = job.unit(part.number), keep_stored(store, job, part.number, part.measure)
    if store.find("keep", unit, keep):
        return
    if store.path(Record("keep", unit, keep).name).exists():
        raise _gone(store, job.dataset.name)
    raise RecipeError(f"dataset {job.dataset.name}: its filters keep other documents than in {store.root}")


def _gone(store: Store, dataset: str) -> InputError:
    """Says what is missing of a dataset."""
    missing = {
        what
        for stage, what in WORK.items()
        for record in store.records(stage)
        if record.facts.get("dataset", record.unit) == dataset and not all(map(store.intact, record.artefacts.values()))
    }
    named = [what for what in WORK.values() if what in missing] or ["commit records"]
    return InputError(f"dataset {dataset}: {store.root} lacks its {', '.join(named)}, wholly or in part")
