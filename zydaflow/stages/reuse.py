"""What a run would find done already, told from commit records alone."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from zydaflow.provenance.commits import Store
from zydaflow.recipe import Recipe, TrainSpec
from zydaflow.signals.scores import PREFIX
from zydaflow.stages import cluster, count, decide, match, score, select, tokenize, train
from zydaflow.stages import manifest as manifests
from zydaflow.stages.job import Job
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.parts import parts_of, steps_done, steps_of
from zydaflow.stages.plan import Plan


class Reuse(NamedTuple):
    """Of so many units of work, those that are done and still stand under the recipe."""

    stage: str
    done: int
    units: int


def reusable(store: Store, plan: Plan) -> list[Reuse]:
    """Stage by stage, in order, up to the first whose units depend on work that is not done.

    Scores, `measure`, `judge`, `keep` and `sketch` count shards, the others their own units.
    """
    jobs = [Job(plan.recipe, shard) for shard in plan.shards]
    parts = [parts_of(store, job) for job in jobs]
    done = Counter(step for job, of in zip(jobs, parts, strict=True) for step in steps_done(job, of))
    found = [_scored(store, plan, name) for name in plan.recipe.scorers]
    found += [Reuse(step, done[step], len(jobs)) for step in steps_of(jobs[0])]
    if all(step.done == step.units for step in found):
        found += _later(store, plan.recipe, manifests.build(jobs, parts))
    return found


def _scored(store: Store, plan: Plan, name: str) -> Reuse:
    shards = score.of(plan.recipe, plan.shards, name)
    return Reuse(PREFIX + name, len(shards) - len(score.units(store, plan.recipe, shards, name)), len(shards))


def _later(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Reuse]:
    """The stages after the first; the paths in their units do not matter here."""
    if recipe.dedup:
        ranges = len(match.match_names(recipe, manifest))
        yield Reuse("match", ranges - len(match.match_units(store, recipe, manifest, "")), ranges)
        clustered = cluster.record_of(store, recipe, manifest)
        if clustered is None:
            return
        partitions = clustered.counts["partitions"]
        yield Reuse("decide", partitions - len(decide.units(store, recipe, manifest, "")), partitions)
    datasets = len(manifest.datasets)
    selected = datasets - len(select.units(store, recipe, manifest, ""))
    yield Reuse("select", selected, datasets)
    if selected == datasets:
        yield from _corpus(store, recipe, manifest)


def _corpus(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Reuse]:
    """The trained tokenizer, the output shards, and the tokens of what is in none."""
    if isinstance(recipe.tokenizer, TrainSpec):
        trained = train.record_of(store, recipe, manifest) is not None
        yield Reuse("train", int(trained), 1)
        if not trained:
            return
    shards = sum(len(tokenize.planned(store, recipe, manifest, dataset)) for dataset in range(len(manifest.datasets)))
    tokenizer = train.tokenizer_of(store, recipe, manifest)
    todo = tokenize.units(store, recipe, manifest, "", tokenizer)
    yield Reuse("tokenize", shards - len(todo), shards)
    counted = sum(1 for _ in count.records(store, recipe, manifest, tokenizer))
    yield Reuse("count", counted, counted + len(count.units(store, recipe, manifest, "", tokenizer)))
