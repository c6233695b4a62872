"""What preparing one shard is made of, and the fingerprints that follow from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import xxhash

from zydaflow import filters, scorers, signals, transforms
from zydaflow.filters import AnyRule
from zydaflow.provenance.commits import file_name
from zydaflow.recipe import DatasetSpec, Recipe, fingerprint
from zydaflow.signals import Resources
from zydaflow.signals.scores import PREFIX, measured
from zydaflow.sources import Shard

# Raised when a stage gives another result for the same input; part of every fingerprint after it.
MEASURE_VERSION = 1
JUDGE_VERSION = 1
KEEP_VERSION = 1
SKETCH_VERSION = 2
SCORE_VERSION = 1


BATCH_BYTES = 8_000_000


@dataclass(frozen=True)
class Job:
    """One shard under one recipe, read by so many bytes of text at once, which makes a difference to memory alone."""

    recipe: Recipe
    shard: Shard
    batch_bytes: int = BATCH_BYTES

    @cached_property
    def dataset(self) -> DatasetSpec:
        return self.recipe.dataset(self.shard.dataset)

    @cached_property
    def transform(self) -> tuple[str, ...]:
        return self.recipe.transform_of(self.dataset)

    @cached_property
    def rules(self) -> tuple[AnyRule, ...]:
        return filters.resolve(self.recipe, self.dataset)

    @cached_property
    def signal_names(self) -> tuple[str, ...]:
        return filters.signals_needed(self.recipe, self.dataset)

    @cached_property
    def measured_names(self) -> tuple[str, ...]:
        """The signals that are measured."""
        return measured(self.signal_names)

    @cached_property
    def score_names(self) -> tuple[str, ...]:
        """The signals that are scores."""
        return tuple(name for name in self.signal_names if name.startswith(PREFIX))

    @cached_property
    def scorers(self) -> dict[str, str]:
        """The fingerprints of the scorers of this dataset, by name."""
        names = self.recipe.scorers_of(self.dataset)
        return {name: scorers.scorer_fingerprint(self.recipe.scorers[name]) for name in names}

    @cached_property
    def resources(self) -> Resources:
        return Resources.of(self.recipe)

    @property
    def sketches(self) -> bool:
        """Whether signatures are wanted."""
        return self.recipe.dedup is not None and self.dataset.dedup

    def unit(self, part: int) -> str:
        """The name of one part: dataset, file and where it begins, which is all that makes it that part."""
        return f"{self.shard.dataset}/{self.shard.name}p{part:06d}"

    def score_unit(self, part: int, name: str) -> str:
        """The same of what one scorer makes of it."""
        return f"{self.unit(part)} {name}"

    def place(self, area: str, part: int, fingerprint: str, form: str) -> str:
        """Where a file of this part lies below the output folder; the name follows from what it is made of."""
        return f"{area}/{self.shard.dataset}/{file_name(self.unit(part))}.{fingerprint[:12]}.{form}"

    def measure_fingerprint(self, part: int) -> str:
        """Of the signals: where the text comes from, and what is done to it and measured on it. No rules."""
        return fingerprint(self._measured, part)

    @cached_property
    def _measured(self) -> list[Any]:
        dataset = self.dataset
        columns = dataset.model_dump(include={"text", "id", "license", "sample"}, mode="json")
        columns["metadata"] = dataset.carried
        if dataset.url:
            columns["url"] = dataset.url
        measured = signals.fingerprint(self.measured_names, self.resources)
        return ["measure", MEASURE_VERSION, self._input, columns, transforms.fingerprint(self.transform), measured]

    @cached_property
    def _input(self) -> dict[str, Any]:
        shard = self.shard
        return {
            "dataset": shard.dataset, "file": shard.file, "form": shard.form, "start": shard.start, "stop": shard.stop,
            "version": shard.version, "part_bytes": self.recipe.resources.shard_bytes, "seed": self.recipe.seed,
        }  # fmt: skip

    def score_fingerprint(self, part: int, name: str) -> str:
        """Of the scores of one scorer: the function, where the text comes from, and what is done to it."""
        text = self.dataset.model_dump(include={"text", "sample"}, mode="json")
        transform = transforms.fingerprint(self.transform)
        return fingerprint("score", SCORE_VERSION, self._input, text, transform, self.scorers[name], part)

    def judge_fingerprint(self, part: int) -> str:
        """Of the verdicts: the signals, the scores and the rules."""
        rules = [rule.to_json() for rule in self.rules]
        scores = [self.score_fingerprint(part, name) for name in self.scorers]
        return fingerprint(
            "judge", JUDGE_VERSION, self.measure_fingerprint(part), rules, all_signals(self.recipe), *scores
        )

    def keep_fingerprint(self, part: int, mask_digest: str) -> str:
        """Of the kept text: the text, and which documents are kept; whatever rules led to it."""
        return fingerprint("keep", KEEP_VERSION, self.measure_fingerprint(part), mask_digest)

    def sketch_fingerprint(self, keep_fingerprint: str) -> str:
        """Of the signatures: the kept text, the shingles, and the permutations."""
        return fingerprint("sketch", SKETCH_VERSION, keep_fingerprint, sketch_parameters(self.recipe))


_version = cache(version)  # each look reads files


def sketch_parameters(recipe: Recipe) -> dict[str, Any]:
    """What the values of a signature depend on besides the text."""
    import unicodedata

    assert recipe.dedup is not None
    return {
        "shingle": recipe.dedup.shingle.model_dump(mode="json"),
        "permutations": recipe.dedup.permutations,
        "seed": recipe.seed,
        "scheme": "affine32",
        "datasketch": _version("datasketch"),
        "unidata": unicodedata.unidata_version,
    }


def all_signals(recipe: Recipe) -> list[str]:
    """The signals of all datasets together, so that the tables of all have the same columns."""
    names = {name for dataset in recipe.datasets for name in filters.signals_needed(recipe, dataset)}
    return sorted(names)


class MaskDigest:
    """Names a set of kept documents: a hash over one bit per record, whatever batches they came in.

    The bits are those of the records without the `missing` ones, given by their positions.
    """

    def __init__(self, missing: Iterable[int]) -> None:
        self._hash = xxhash.xxh3_128(b"".join(position.to_bytes(8, "big") for position in sorted(missing)))

    def update(self, kept: np.ndarray) -> None:
        self._hash.update(kept.astype(np.uint8).tobytes())

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
