"""What a run leaves of its plan, so that an extension of it needs to look at no input file of old datasets."""

from collections.abc import Iterator
from typing import Any

import orjson
import xxhash

from zydaflow import filters, scorers, signals, transforms
from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import DatasetSpec, Recipe, fingerprint
from zydaflow.signals import Resources
from zydaflow.signals.scores import measured
from zydaflow.sources import DatasetPlan, Shard
from zydaflow.sources.listing import InputFile
from zydaflow.stages.job import MEASURE_VERSION
from zydaflow.stages.plan import Plan

STAGE = "inputs"


def reading(recipe: Recipe, dataset: DatasetSpec) -> dict[str, Any]:
    """By recipe key, all that the signals and texts of a dataset depend on, besides its files."""
    columns = ("name", "path", "split", "text", "id", "url", "license", "sample")
    return {
        **dataset.model_dump(include=set(columns), mode="json"),
        "metadata": list(dataset.carried),
        "transform": transforms.fingerprint(recipe.transform_of(dataset)),
        "the signals that filters, language and dedup.keep need": signals.fingerprint(
            measured(filters.signals_needed(recipe, dataset)), Resources.of(recipe)
        ),
        **{f"scorers.{name}": scorers.scorer_fingerprint(recipe.scorers[name]) for name in recipe.scorers_of(dataset)},
        "seed": recipe.seed,
        "resources.shard_bytes": recipe.resources.shard_bytes,
        "the version of zydaflow": MEASURE_VERSION,
    }


def save(store: Store, plan: Plan) -> Iterator[Record]:
    """Commits the files and shards of each dataset; for when all of them are measured."""
    for spec, dataset in zip(plan.recipe.datasets, plan.datasets, strict=True):
        facts = reading(plan.recipe, spec)
        text = orjson.dumps(
            {
                "files": [file._asdict() for file in dataset.files],
                "shards": [shard.to_json() for shard in dataset.shards],
                "columns": dataset.columns,
            }
        )
        path = f"work/inputs/{spec.name}.{xxhash.xxh3_128_hexdigest(text)[:12]}.json"
        artefacts = {"inputs": store.write(path, text)}
        yield store.commit(Record(STAGE, spec.name, fingerprint(STAGE, facts), artefacts, facts=facts))


def load(store: Store, record: Record) -> DatasetPlan:
    """What `save` was given of one dataset. Raises DamagedArtefact."""
    fields = orjson.loads(memoryview(store.map(record.artefacts["inputs"])))
    files = tuple(InputFile(**file) for file in fields["files"])
    shards = tuple(Shard(**shard) for shard in fields["shards"])
    return DatasetPlan(record.unit, files, shards, fields["columns"])


def differing(record: Record, now: dict[str, Any]) -> list[str]:
    """The keys of a dataset's `reading` whose values are not those of its record."""
    return [key for key, value in now.items() if fingerprint(value) != fingerprint(record.facts.get(key))]
