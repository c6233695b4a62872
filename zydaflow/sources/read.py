"""Reading a shard, whatever its form."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zydaflow.sources.arrow import read_arrow
from zydaflow.sources.installed import read_installed
from zydaflow.sources.jsonl import read_jsonl
from zydaflow.sources.parquet import read_parquet
from zydaflow.sources.records import columns_of
from zydaflow.sources.sample import Sample
from zydaflow.sources.shard import Batch, Shard

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec


def read_shard(
    shard: Shard,
    dataset: "DatasetSpec",
    *,
    part_bytes: int,
    seed: int,
    first_part: int = 0,
    batch_bytes: int = 8_000_000,
) -> Iterator[Batch]:
    """The records of a shard in order, in batches of about `batch_bytes` of text, none of which straddles two parts.

    Part k of a compressed file is the records that begin in [k * part_bytes, (k + 1) * part_bytes) of its decompressed
    bytes; everything else has the one part 0. Parts before `first_part` are skipped without being parsed. `seed` is the
    recipe's, for `dataset.sample`.

    Raises InputError where the file is damaged, cut short or changed since it was planned (batches before the fault
    have been yielded by then), OSError where the storage failed and may recover.
    """
    columns = columns_of(dataset)
    sample = Sample(seed, dataset.name, shard.file, dataset.sample)
    if shard.form == "parquet":
        return read_parquet(shard, columns, sample, batch_bytes)
    if shard.form == "arrow":
        return read_arrow(shard, columns, sample, batch_bytes)
    if shard.form == "installed":
        return read_installed(shard, columns, sample, batch_bytes)
    return read_jsonl(shard, columns, sample, part_bytes, first_part, batch_bytes)
