"""Recompute: units of a finished run done once more, apart from it, and held against its commit records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zydaflow import sources
from zydaflow.errors import InputError
from zydaflow.provenance.commits import DamagedArtefact, Record, Store, this_node
from zydaflow.recipe import DatasetSpec, Recipe
from zydaflow.sources import Shard
from zydaflow.stages import cluster, count, decide, evidence, gather, inputs, keys, match, select, tokenize, train
from zydaflow.stages.job import Job
from zydaflow.stages.layer import Layer
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.parts import steps_of
from zydaflow.stages.prepare import prepare_part
from zydaflow.stages.score import score_part
from zydaflow.stages.scores import ScoresGone
from zydaflow.stages.unit import Unit
from zydaflow.storage import temporary_folder

PREPARE = "prepare"  # measure, judge, keep and sketch, which one pass over a part of the raw text makes

Records = Mapping[tuple[str, str], Record]  # by stage and unit


@dataclass(frozen=True)
class Check:
    """A unit to be done once more, and the records that it must make again."""

    stage: str
    unit: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    expected: tuple[Record, ...]

    @property
    def node(self) -> str:
        """Where it was done."""
        return self.expected[0].node


class Difference(NamedTuple):
    """What came out otherwise; `what` is a file, or a part of the record."""

    stage: str
    unit: str
    what: str
    was: str
    now: str


class Checked(NamedTuple):
    """What became of a check, on which node; `obstacle` says why there is no answer."""

    check: Check
    node: str
    differences: list[Difference]
    obstacle: str = ""


def checks_of_parts(store: Store, recipe: Recipe, records: Records) -> list[Check]:
    """A check for every part of the raw text; of a dataset whose files cannot be named any more, none.

    Needs of the run its commit records alone.
    """
    return [check for dataset in recipe.datasets for check in _parts(store, recipe, dataset, records)]


def _parts(store: Store, recipe: Recipe, dataset: DatasetSpec, records: Records) -> Iterator[Check]:
    for shard in _shards(store, recipe, dataset, records):
        job, number = Job(recipe, shard), 0
        while (measured := records.get(("measure", job.unit(number)))) is not None:
            unit = job.unit(number)
            if measured.fingerprint == job.measure_fingerprint(number):
                expected = [records[step, unit] for step in steps_of(job) if (step, unit) in records]
                arguments = (recipe, shard, number, measured)
                yield Check(PREPARE, unit, prepare_part, arguments, tuple(expected))
            if (following := measured.facts["next"]) is None:
                break
            number = following


def checks_of_scores(store: Store, recipe: Recipe, records: Records) -> list[Check]:
    """The same for what each scorer that needs no GPU made of it."""
    return [check for dataset in recipe.datasets for check in _scores(store, recipe, dataset, records)]


def _scores(store: Store, recipe: Recipe, dataset: DatasetSpec, records: Records) -> Iterator[Check]:
    names = [name for name in recipe.scorers_of(dataset) if not recipe.scorers[name].gpus]
    for shard in _shards(store, recipe, dataset, records) if names else ():
        job = Job(recipe, shard)
        for name in names:
            number: int | None = 0
            while number is not None and (record := records.get(("score", unit := job.score_unit(number, name)))):
                if record.fingerprint == job.score_fingerprint(number, name):
                    yield Check("score", unit, score_part, (recipe, shard, name, number), (record,))
                number = record.facts["next"]


def _shards(store: Store, recipe: Recipe, dataset: DatasetSpec, records: Records) -> Sequence[Shard]:
    """As the run planned them; where it does not hold that any more, as they are planned now."""
    try:
        return inputs.load(store, records[inputs.STAGE, dataset.name]).shards
    except (DamagedArtefact, KeyError):
        pass
    try:
        return sources.plan_dataset(dataset, recipe.resources.shard_bytes).shards
    except InputError:
        return ()


def _tokenizing(units: Callable[..., list[Unit]]) -> Callable[..., list[Unit]]:
    def of(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> list[Unit]:
        return units(store, recipe, manifest, path, train.tokenizer_of(store, recipe, manifest))

    return of


UNITS: dict[str, Callable[..., list[Unit]]] = {
    "keys": keys.units,
    "match": match.match_units,
    "cluster": cluster.units,
    "gather": gather.units,
    "decide": decide.units,
    "select": select.units,
    "train": train.units,
    "tokenize": _tokenizing(tokenize.units),
    "count": _tokenizing(count.units),
    "evidence": evidence.units,
}


def checks_of_stages(run: Layer, recipe: Recipe, manifest: Manifest, path: str, records: Records) -> list[Check]:
    """A check for every unit of every stage after the first; the units find `manifest` at `path`.

    Needs all files of the run. Raises DamagedArtefact for a tokenizer that is not as it was committed.
    """
    there = {stage for stage, _ in records}
    stages = {stage: units for stage, units in UNITS.items() if stage in there}
    return [
        Check(stage, unit.name, unit.function, unit.arguments, (records[stage, unit.name],))
        for stage, units in stages.items()
        for unit in units(run.hiding(stage), recipe, manifest, path)
    ]


def recompute(run: Store, scratch: str, check: Check) -> Checked:
    """Does a unit again in a folder of its own in `scratch`, over the files of `run`, and compares the records.

    Raises what the unit raises; InputError and ScoresGone are told as obstacles.
    """
    with temporary_folder(scratch) as root:
        try:
            check.function(Layer(root, run), *check.arguments)
        except (InputError, ScoresGone) as error:
            return Checked(check, this_node(), [], str(error))
        made = {record.stage: record for record in Store(root).records()}
    differences = [found for record in check.expected for found in _compare(record, made.get(record.stage))]
    return Checked(check, this_node(), differences)


def failed(check: Check, error: BaseException) -> Checked:
    """A unit that once came to its end, and does not now."""
    told = str(error).strip() or type(error).__name__
    return Checked(check, "another", [Difference(check.stage, check.unit, "the unit", "its record", told)])


def _compare(was: Record, now: Record | None) -> Iterator[Difference]:
    """By file and by the rest of the record; a record with another fingerprint stands on another result before it."""
    if now is None or now.fingerprint != was.fingerprint:
        yield Difference(was.stage, was.unit, "fingerprint", was.fingerprint, now.fingerprint if now else "nothing")
        return
    for name in sorted(was.artefacts.keys() | now.artefacts.keys()):
        files = [record.artefacts.get(name) for record in (was, now)]
        if files[0] != files[1]:
            path = next(file.path for file in files if file)
            yield Difference(was.stage, was.unit, path, *(f.xxh3 if f else "no such file" for f in files))
    for part in ("counts", "facts", "statistics"):
        a, b = getattr(was, part), getattr(now, part)
        for key in sorted(a.keys() | b.keys()):
            if a.get(key) != b.get(key):
                yield Difference(was.stage, was.unit, f"{part}.{key}", _told(a.get(key)), _told(b.get(key)))


def _told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
