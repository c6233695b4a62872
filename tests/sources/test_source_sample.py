"""Samples: a function of the record's place alone, nested, of the right size."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from reading import jsonl, read

from zydaflow.sources.sample import Sample, kept

MASK = 2**64 - 1


def obvious(position: int, sample: Sample) -> bool:
    start = xxhash.xxh3_64_intdigest(f"{sample.seed}\0{sample.dataset}\0{sample.file}".encode())
    z = (start + (position + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31) < int(sample.fraction * 2**64)


@pytest.mark.parametrize("fraction", [0.001, 0.3, 0.5, 0.999, 1.0])
def test_the_kernel_is_its_obvious_twin(fraction):
    sample = Sample(7, "d", "a/é.jsonl", fraction)
    positions = np.array([*range(500), 2**40, 2**62, 2**63 - 1], np.int64)
    assert kept(positions, sample).tolist() == [obvious(int(p), sample) for p in positions]


def test_smaller_samples_are_part_of_larger_ones_and_seeds_differ():
    positions = np.arange(100_000, dtype=np.int64)
    small, large = (kept(positions, Sample(1, "d", "f", fraction)) for fraction in (0.1, 0.25))
    assert not (small & ~large).any()
    assert abs(small.mean() - 0.1) < 0.005
    assert abs(large.mean() - 0.25) < 0.005
    other = kept(positions, Sample(2, "d", "f", 0.25))
    assert abs((large & other).mean() - 0.0625) < 0.005


@pytest.fixture(params=["jsonl", "jsonl.gz", "parquet", "arrow"])
def path(request, tmp_path):
    records = [{"text": f"text {i}"} for i in range(1000)]
    path = tmp_path / f"a.{request.param}"
    table = pa.Table.from_pylist(records)
    if request.param == "parquet":
        pq.write_table(table, path, row_group_size=100)
    elif request.param == "arrow":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    else:
        data = jsonl(records)
        path.write_bytes(gzip.compress(data) if request.param == "jsonl.gz" else data)
    return path


def test_the_sample_does_not_depend_on_shards_parts_or_batches(path):
    whole = read(path, sample=0.3)
    assert 250 < len(whole.rows) < 350
    assert whole.sampled_out == 1000 - len(whole.rows)
    cut = read(path, sample=0.3, shard_bytes=1500, batch_bytes=700, part_bytes=5000)
    assert cut.rows == whole.rows
    assert cut.sampled_out == whole.sampled_out
    assert read(path, sample=0.3, seed=2).positions != whole.positions
    assert set(read(path, sample=0.1).positions) < set(whole.positions)
    everything = read(path)
    assert (len(everything.rows), everything.sampled_out) == (1000, 0)


def test_lines_that_are_left_out_are_not_parsed(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\n{"text": "a"}\n' + b"bad\n" * 1000)
    got = read(path, sample=0.3)
    assert len(got.rows) + len(got.bad) + got.sampled_out == 1001
    assert 250 < len(got.bad) < 350
