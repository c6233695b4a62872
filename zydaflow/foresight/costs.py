"""What a run will take: disk by folder, and the memory of a task in each stage."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from zydaflow import dedup, tokens
from zydaflow.dedup.match import BYTES_PER_KEY
from zydaflow.foresight.expected import Expected
from zydaflow.foresight.sample import Sampled
from zydaflow.provenance.numbers import megabytes
from zydaflow.recipe import Recipe, TrainSpec
from zydaflow.stages.cluster import SHARES, WORTH_SHARING, members_per_partition
from zydaflow.stages.match import split
from zydaflow.stages.memory import WORKER, model_bytes

ENCODED = 2**20  # bytes of a dataset's text that are tokenized for its tokens per byte
UNTRAINED = 4.0  # bytes per token of a tokenizer that is yet to be trained
CORPUS_ROW = 88  # bytes of the columns that every document has: counts, place, hash, and offsets
BAND_KEYS = "work/bands"

# Measured on one worker, like WORKER.
PER_BYTE_OF_LONGEST = 6.4  # … of a document that is longer than a batch
PER_DOCUMENT = 12  # bytes while all edges are united
PER_MEMBER = 12  # … and for each document in a cluster
DECIDED = 1200  # bytes for each document of the clusters that one task decides about


class Need(NamedTuple):
    """The memory that one task of a stage takes."""

    stage: str
    bytes: float
    grows_with: str


def documents_kept(sampled: Sequence[Sampled]) -> float:
    """Of the whole input."""
    return sum(sample.scale * sample.kept for sample in sampled)


def documents_compared(sampled: Sequence[Sampled]) -> float:
    """Of the whole input: those of datasets that take part, with words."""
    return sum(sample.scale * len(sample.compared) for sample in sampled)


def tokens_per_byte(recipe: Recipe, sample: Sampled) -> float:
    """Of the kept text; 0 without a tokenizer."""
    if recipe.tokenizer is None:
        return 0
    if isinstance(recipe.tokenizer, TrainSpec):
        return 1 / UNTRAINED
    sizes = pc.binary_length(sample.text)
    count = pc.sum(pc.less_equal(pc.cumulative_sum(sizes), ENCODED)).as_py() or min(1, len(sizes))
    size = pc.sum(sizes[:count]).as_py() or 0
    return len(tokens.load(recipe.tokenizer).encode(sample.text[:count]).ids) / size if size else 0


def _token_bytes(recipe: Recipe) -> int:
    if recipe.tokenizer is None:
        return 0
    if isinstance(recipe.tokenizer, TrainSpec):
        return 2 if recipe.tokenizer.train.vocab_size <= 2**16 else 4
    return tokens.load(recipe.tokenizer).dtype.itemsize


def disk(recipe: Recipe, sampled: Sequence[Sampled], tokens_per_byte: Sequence[float]) -> dict[str, float]:
    """Bytes by folder of all that is written, if no document is removed as a duplicate."""
    found: dict[str, float] = defaultdict(float)
    itemsize = _token_bytes(recipe)
    for dataset, sample, rate in zip(recipe.datasets, sampled, tokens_per_byte, strict=True):
        for folder, size in sample.disk.items():
            found[folder] += sample.scale * size
        row = sample.carried_bytes + sample.kept * (CORPUS_ROW + len(dataset.name))
        text = sample.kept_bytes if recipe.output.text else 0
        ids = rate * sample.kept_bytes * itemsize
        signals = sample.disk.get("work/signals", 0) if recipe.output.signals else 0
        found["corpus"] += sample.scale * (row + text + ids + signals)
    if recipe.dedup:
        found[BAND_KEYS] = documents_compared(sampled) * 8 * split(recipe.dedup)[0]
    return dict(found)


def memory(recipe: Recipe, sampled: Sequence[Sampled], expected: Sequence[Expected]) -> list[Need]:
    """The stages that need most, in order. Where `memory_per_task` is less, they go through files."""
    longest = max(sample.longest for sample in sampled)
    held = WORKER + model_bytes(recipe)
    needs = [
        Need("measure", held + PER_BYTE_OF_LONGEST * longest, f"the longest text, in the sample {megabytes(longest)}")
    ]
    if recipe.dedup is None:
        return needs
    documents, compared = documents_kept(sampled), documents_compared(sampled)
    members = min(compared, 2 * sum(found.candidates.value for found in expected))
    together = min(max(members / SHARES, WORTH_SHARING), members, members_per_partition(recipe))
    keys = compared * split(recipe.dedup)[0] / dedup.RANGES
    return [
        *needs,
        Need("match", WORKER + BYTES_PER_KEY * keys, "documents"),
        Need("cluster", WORKER + PER_DOCUMENT * documents + PER_MEMBER * members, "documents"),
        Need("decide", WORKER + DECIDED * together, "candidates"),
    ]
