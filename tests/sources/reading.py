"""Reads whole datasets for the tests of the sources."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zydaflow.recipe import DatasetSpec
from zydaflow.sources import Batch, plan_dataset, read_shard

BIG = 10**9


@dataclass
class Reading:
    """What came of a dataset, in order."""

    batches: list[Batch]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in batch.records.to_pylist()]

    @property
    def texts(self) -> list[str | None]:
        return [row["text"] for row in self.rows]

    @property
    def ids(self) -> list[str | None]:
        return [row["id"] for row in self.rows]

    @property
    def positions(self) -> list[int]:
        return [row["position"] for row in self.rows]

    @property
    def metadata(self) -> list[Any]:
        return [json.loads(row["metadata"], parse_constant=_refuse) for row in self.rows]

    @property
    def bad(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in batch.quarantine.to_pylist()]

    @property
    def repaired(self) -> int:
        return sum(batch.repaired for batch in self.batches)

    @property
    def sampled_out(self) -> int:
        return sum(batch.sampled_out for batch in self.batches)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def spec(path: object, **keys: Any) -> DatasetSpec:
    """A dataset of the recipe at this path."""
    return DatasetSpec(**{"name": "d", "path": str(path), **keys})


def read(
    path: object,
    *,
    shard_bytes: int = BIG,
    part_bytes: int = BIG,
    batch_bytes: int = 8_000_000,
    first_part: int = 0,
    seed: int = 1,
    **keys: Any,
) -> Reading:
    """All records of a dataset, shard after shard."""
    dataset = spec(path, **keys)
    batches: list[Batch] = []
    for shard in plan_dataset(dataset, shard_bytes).shards:
        batches += read_shard(
            shard, dataset, part_bytes=part_bytes, seed=seed, first_part=first_part, batch_bytes=batch_bytes
        )
    return Reading(batches)


def jsonl(records: Iterable[Any]) -> bytes:
    """Records as JSON Lines."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
