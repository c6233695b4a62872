"""Which pieces of a dataset a sample is read from, and how much of its files they are."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from zydaflow.recipe import DatasetSpec
from zydaflow.sources import Batch, DatasetPlan, Shard, read_shard
from zydaflow.sources.decompress import gzip_blocks, zstd_blocks
from zydaflow.sources.open import opened
from zydaflow.sources.parquet import open_parquet
from zydaflow.stages.plan import TEXT_PER_BYTE, TEXT_PER_COMPRESSED_BYTE

PIECES = 32  # places all over a dataset that are read, where it has so many
SMALLEST, LARGEST = 2**14, 2**20  # bytes read in each of them
MOST_PIECES = 2**16
FILES = 8  # at least so many files or row groups share what is read, where there are so many
LEEWAY = 1.5  # how far the text of a dataset that is taken for small may exceed what was thought


class Piece(NamedTuple):
    """What is read in one go: a range of JSON Lines, a row group, a record batch, or a file that has none of these."""

    shard: Shard
    bytes: float  # of the file


class Reader:
    """Reads pieces of a dataset, in an order that the seed gives, until the allowance is used up."""

    def __init__(self, dataset: DatasetSpec, plan: DatasetPlan, allowance: float, seed: int) -> None:
        """`allowance` is in bytes of text, or of the file where that is more."""
        self._dataset, self._seed = dataset, seed
        self._piece_bytes = int(min(max(allowance / PIECES, SMALLEST), LARGEST))
        self._pieces = list(pieces(plan, self._piece_bytes, seed))
        fits = text_in(plan) <= allowance
        self._left = allowance * LEEWAY if fits else allowance
        self._most = self._left if fits else allowance / min(FILES, max(len(self._pieces), 1))  # of one piece
        self._total = float(sum(file.size for file in plan.files if file.size > 0))
        self._read = 0.0
        self.unsized = sum(file.size < 0 for file in plan.files)
        self.cut = 0  # pieces of which only the beginning was read
        self.whole = False

    @property
    def scale(self) -> float:
        """How many times as large as what was read the dataset is, by bytes of its files."""
        return 1.0 if self.whole or not self._read else self._total / self._read

    def batches(self) -> Iterator[Batch]:
        """The records, in batches of at most `LARGEST` bytes unless one record has more."""
        complete = self.unsized == 0 and len(self._pieces) < MOST_PIECES
        for piece in self._pieces:
            if self._left <= 0:
                return
            complete &= yield from self._batches_of(piece)
        self.whole = complete

    def _batches_of(self, piece: Piece) -> Generator[Batch, None, bool]:
        """Returns whether the piece was read to its end."""
        used, most = 0.0, max(min(self._most, self._left), self._piece_bytes)
        source = read_shard(
            piece.shard, self._dataset, part_bytes=2**62, seed=self._seed, batch_bytes=self._piece_bytes
        )
        for batch in source:
            if used >= most and len(batch.records):
                self._read += min(piece.bytes, bytes_until(piece, batch.records["position"][0].as_py(), used))
                self._left -= used
                self.cut += 1
                return False
            yield batch
            used += _cost(batch)
        self._read += piece.bytes
        self._left -= max(used, piece.bytes)
        return True


def text_in(plan: DatasetPlan) -> float:
    """About how many bytes of text the files hold."""
    sizes = {
        shard.file: max(shard.size, 0) * TEXT_PER_BYTE.get(shard.form, TEXT_PER_COMPRESSED_BYTE)
        for shard in plan.shards
    }
    return sum(sizes.values())


def _cost(batch: Batch) -> float:
    """The text of the records, and about that of those which the recipe's `sample` leaves out."""
    taken = len(batch.records)
    return batch.records["text"].nbytes * (taken + batch.sampled_out) / max(taken, 1)


def pieces(plan: DatasetPlan, piece_bytes: int, seed: int) -> Iterator[Piece]:
    """Up to `MOST_PIECES` pieces of the files whose size is known, in an order that looks random and never changes."""
    shards = [shard for shard in plan.shards if shard.size > 0]
    units = Counter[str]()
    for shard in shards:
        units[shard.file] += shard.stop - shard.start if shard.stop >= 0 else 1
    steps = [piece_bytes if shard.form == "jsonl" else 1 for shard in shards]
    counts = [-(-(s.stop - s.start) // step) if s.stop >= 0 else 1 for s, step in zip(shards, steps, strict=True)]
    ends = list(accumulate(counts, initial=0))
    order = random.Random(f"{seed} {plan.dataset}").sample(range(ends[-1]), min(ends[-1], MOST_PIECES))
    for number in order:
        at = bisect_right(ends, number) - 1
        shard = shards[at]
        if shard.stop < 0:
            yield Piece(shard, shard.size)
            continue
        start = shard.start + (number - ends[at]) * steps[at]
        part = replace(shard, start=start, stop=min(start + steps[at], shard.stop))
        yield Piece(part, shard.size * (part.stop - part.start) / units[shard.file])


def bytes_until(piece: Piece, position: int, text: float) -> float:
    """About how many bytes of its file lie before the record at `position`, if all before held so much text.

    Compressed text is expanded once more, up to there.
    """
    shard = piece.shard
    if shard.form == "jsonl":
        return position - shard.start
    if shard.form == "parquet":
        with opened(shard, cache="none") as file, open_parquet(shard.url, file) as parquet:
            groups = [parquet.metadata.row_group(k).num_rows for k in range(shard.start + 1)]
        return piece.bytes * (position - sum(groups[:-1])) / max(groups[-1], 1)
    if shard.form.startswith("jsonl"):
        with opened(shard) as file:
            ends = {0: 0}  # bytes of the file → what they expand to
            for block in gzip_blocks(file, LARGEST) if shard.form == "jsonl.gz" else zstd_blocks(file):
                expanded = max(ends.values())
                if expanded >= position and file.tell() not in ends:
                    break
                ends[file.tell()] = expanded + len(block)
        return float(np.interp(position, list(ends.values()), list(ends)))
    return text
