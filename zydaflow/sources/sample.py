"""Which records a sample keeps: a hash of the record's place decides, and nothing else; smaller samples nest."""

from typing import NamedTuple

import numpy as np
import xxhash

GAMMA = np.uint64(0x9E3779B97F4A7C15)


class Sample(NamedTuple):
    """A share of the records of one file."""

    seed: int
    dataset: str
    file: str  # `Shard.file`
    fraction: float  # of the records, 0 to 1


def kept(positions: np.ndarray, sample: Sample) -> np.ndarray:
    """bool[n]: whether the records at `positions` (int64[n]) of the file are in the sample.

    The record at position p has the p-th output of SplitMix64 (Steele, Lea and Flood 2014), started at the xxh3 hash of
    seed, dataset and file; it is kept when that lies below fraction * 2**64.
    """
    if sample.fraction >= 1:
        return np.ones(len(positions), np.bool_)
    origin = f"{sample.seed}\0{sample.dataset}\0{sample.file}"
    start = np.uint64(xxhash.xxh3_64_intdigest(origin.encode()))
    z = start + (positions.astype(np.uint64) + np.uint64(1)) * GAMMA
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) < np.uint64(int(sample.fraction * 2.0**64))
