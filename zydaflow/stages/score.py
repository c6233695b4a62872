"""Score: raw text of a shard → what one of the recipe's functions gives for each document, part by part.

A record of `score` has a fingerprint of its own, so that another function repeats nothing but its own scores, and what
follows from these; and a changed rule does not score again.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from zydaflow.errors import RunError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import ArrowFile
from zydaflow.recipe import Recipe, fingerprint
from zydaflow.say import warn
from zydaflow.scorers import scorer_fingerprint
from zydaflow.signals.scores import PREFIX
from zydaflow.sources import Batch, Shard
from zydaflow.stages.failing import MOST
from zydaflow.stages.job import Job
from zydaflow.stages.raw import check_readable, raw_parts, sizes
from zydaflow.stages.reading import Following
from zydaflow.stages.scores import score_record, scores_schema
from zydaflow.stages.scoring import Scoring
from zydaflow.stages.trial import Failure
from zydaflow.stages.unit import NONE, Done, Trouble, Unit

SHARE = 0.01  # of a part's documents; more than `MOST` and more than this, and the fault is taken to be the function's
TOLD = 20  # documents that a warning names


def of(recipe: Recipe, shards: Sequence[Shard], name: str) -> list[Shard]:
    """The shards that a scorer is for."""
    return [shard for shard in shards if name in recipe.scorers_of(recipe.dataset(shard.dataset))]


def units(store: Store, recipe: Recipe, shards: Sequence[Shard], name: str) -> list[Unit]:
    """The shards that a scorer has not scored to their end."""
    todo = []
    for shard, size in zip(shards, sizes(shards), strict=True):
        job = Job(recipe, shard)
        if _next(store, job, name) is not None:
            todo.append(Unit(f"{shard.dataset}/{shard.name}", score, (recipe, shard, name), size, careful=True))
    return todo


def _next(store: Store, job: Job, name: str) -> int | None:
    """The first part of a shard that is not scored; None where all are."""
    part: int | None = 0
    while part is not None and (record := score_record(store, job, part, name)):
        part = record.facts["next"]
    return part


def score(store: Store, recipe: Recipe, shard: Shard, name: str, trouble: Trouble = NONE) -> Done:
    """Scores what is left of a shard. Raises RunError where most documents fail, and what `Scoring.score` does."""
    job = Job(recipe, shard)
    start = _next(store, job, name)
    if start is None:
        return Done(0, 0)
    if trouble.suspect:
        check_readable(job, start)
    documents = size = 0
    scoring = _working(recipe, name)
    for part, batches, following in raw_parts(job, start, None):
        done = _score_part(store, job, part, name, scoring, batches, following)
        documents += done.documents
        size += done.bytes
    return Done(documents, size)


def score_part(store: Store, recipe: Recipe, shard: Shard, name: str, part: int) -> Done:
    """Scores one part of a shard again."""
    job = Job(recipe, shard)
    for number, batches, following in raw_parts(job, part, part):
        return _score_part(store, job, number, name, _working(recipe, name), batches, following)
    raise AssertionError("a shard has a part")


def _score_part(
    store: Store, job: Job, part: int, name: str, scoring: Scoring, batches: Iterable[Batch], following: Following
) -> Done:
    dataset, fp = job.shard.dataset, job.score_fingerprint(part, name)
    unscored: dict[int, str] = {}
    size = 0
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, f"work/scores/{dataset}", scores_schema(name), "lz4")
        for batch in batches:
            scores, failures = scoring.score(batch.records, job.transform)
            columns = [batch.records["position"], scores]
            file.write(pa.RecordBatch.from_arrays(columns, schema=scores_schema(name)))
            size += batch.records["text"].nbytes
            unscored |= _told(batch.records, failures)
            _check(job.shard, name, unscored, file.rows, failures)
        artefacts = {"scores": file.finish(job.place("work/scores", part, fp, "arrow"))}
        counts = {"documents": file.rows, "unscored": len(unscored)}
        facts: dict[str, Any] = {"next": following.part, "dataset": dataset, "file": job.shard.file, "scorer": name}
        facts["unscored"] = sorted(unscored.items())
        store.commit(Record("score", job.score_unit(part, name), fp, artefacts, counts, facts))
    return Done(file.rows, size)


def _told(records: pa.RecordBatch, failures: dict[int, Failure]) -> dict[int, str]:
    """Why documents have no score, by position."""
    found = {}
    for row, failure in failures.items():
        position, id_ = (records[key][row].as_py() for key in ("position", "id"))
        found[position] = failure.reason if id_ is None else f"{failure.reason}; its id is {id_}"
    return found


def _check(shard: Shard, name: str, unscored: dict[int, str], documents: int, failures: dict[int, Failure]) -> None:
    """Raises RunError where so many documents fail that the fault is hardly theirs."""
    if len(unscored) > max(MOST, SHARE * documents):
        last = list(failures.values())[-1]
        raise RunError(
            f"scorers.{name} fails on {len(unscored):,} of {documents:,} documents of {shard.url}, so the fault is "
            f"hardly theirs: {last.reason}\n{last.traceback}"
        )


_kept: dict[str, Scoring] = {}  # at most one, by what it is made of


def _working(recipe: Recipe, name: str) -> Scoring:
    """The scorer at work, which goes on from unit to unit."""
    spec, used = recipe.scorers[name], [recipe.transform_of(dataset) for dataset in recipe.datasets]
    key = fingerprint(name, spec.model_dump(mode="json"), scorer_fingerprint(spec), used)
    if key not in _kept:
        for other in _kept.values():
            other.close()
        _kept.clear()
        _kept[key] = Scoring(recipe, name)
    return _kept[key]


def warn_unscored(records: Iterable[Record]) -> None:
    """Tells of documents on which a scorer failed."""
    found = [(record.facts, *of) for record in records if record.stage == "score" for of in record.facts["unscored"]]
    lines = [
        f"  {PREFIX}{facts['scorer']}: {facts['dataset']}: {facts['file']} at {position:,}: {reason}"
        for facts, position, reason in found
    ]
    if lines:
        more = [f"  … and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
        warn("\n".join([f"warning: {len(lines):,} scores could not be had, and are null:", *lines[:TOLD], *more]))
