"""Matching and clustering on disk: damage is found, memory follows the setting, and no bucket is too large."""

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from inputs import recipe
from serial import Serial
from signed import Signed

from zydaflow import dedup, pipeline
from zydaflow.dedup.match import Edges
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.stages import cluster, match
from zydaflow.stages.unit import Timing


def _flip_a_key(path: Path) -> None:
    """Changes one bit of the first key in the file."""
    whole = pa.py_buffer(path.read_bytes())
    reader = pa.ipc.open_file(whole)
    batches = [reader.get_batch(index) for index in range(reader.num_record_batches)]
    keys = next(batch["key"].buffers()[1] for batch in batches if len(batch))
    data = bytearray(whole)
    data[keys.address - whole.address] ^= 1
    path.write_bytes(data)


def _damage_footer(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-20:] = bytes(20)
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [_flip_a_key, _damage_footer])
def test_damaged_band_keys_are_found_when_they_are_read(
    serial: Serial, entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    do = pipeline.run_units

    def do_and_damage(store: Store, stage: str, *rest: Any) -> Timing:
        timing = do(store, stage, *rest)
        if stage == "bands":
            damage(next(store.path("work/bands").iterdir()))
        return timing

    monkeypatch.setattr(pipeline, "run_units", do_and_damage)
    with pytest.raises(DamagedArtefact, match="work/bands/"):
        serial.run(recipe(entries, out))
    assert list(out.glob("commits/match/*")) == []


def signatures(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, (n, 128), dtype=np.uint32)


@pytest.mark.parametrize("passes", [["within"], ["across"], ["within", "across"]])
def test_less_memory_takes_more_steps_to_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: list[str]
) -> None:
    first, second = signatures(1, 50_000), signatures(2, 50_000)
    second[::10, :64] = first[::10, :64]  # 5,000 pairs across, and 99 in each
    first[1:100, 64:], second[1:100, 64:] = first[101:200, 64:], second[101:200, 64:]
    steps, files, found = [], [], []
    forest = dedup.forest

    def counted(*arguments: Any) -> Iterator[Edges]:
        for edges in forest(*arguments):
            steps[-1] += 1
            yield edges

    monkeypatch.setattr(dedup, "forest", counted)
    for memory in ("1GB", "50kB"):
        steps.append(0)
        documents = Signed(tmp_path / memory, first, second)
        recipe = documents.recipe(memory, passes=passes)
        documents.lay_out(recipe)
        files.append([record.artefacts["edges"] for record in documents.match(recipe)])
        found = sorted(documents.cluster(recipe))
    assert steps == [256, 512]
    assert files[0] == files[1]
    within = [[k, k + 100] for k in (*range(1, 100), *range(50_001, 50_100))]
    across = [[k, k + 50_000] for k in range(0, 50_000, 10)]
    linked = {"within": within, "across": across}
    expected = {tuple(pair) for which in passes for pair in linked[which]}
    assert {(a, b) for one in found for a in one for b in one if a < b} >= expected
    assert sum(map(len, found)) == len({end for pair in expected for end in pair})


def test_edges_are_written_in_batches_of_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "EDGES_PER_BATCH", 7)
    values = signatures(6, 60)
    values[30:] = values[:30]
    documents = Signed(tmp_path, values)
    recipe = documents.recipe("1GB")
    documents.lay_out(recipe)
    (record,) = documents.match(recipe)
    reader = pa.ipc.open_file(documents.store.map(record.artefacts["edges"]))
    sizes = [len(reader.get_batch(index)) for index in range(reader.num_record_batches)]
    assert sum(sizes) == record.counts["edges"] == 30 * 32
    assert set(sizes[:-1]) == {7}
    assert documents.cluster(recipe) == [[k, k + 30] for k in range(30)]


def test_hot_buckets_take_no_more_memory_than_is_set(tmp_path: Path) -> None:
    values = signatures(3, 220_000)
    values[10_000:110_000] = values[10_000]  # identical
    values[110_000:210_000, :4] = values[110_000, :4]  # different, with one band in common
    documents = Signed(tmp_path, values)
    recipe = documents.recipe("1MB")
    documents.lay_out(recipe)
    tracemalloc.start()
    records = documents.match(recipe)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_500_000, "one bucket alone takes 2.8 MB: it goes through a file"
    assert max(record.facts["largest_bucket"] for record in records) == 100_000
    assert [len(one) for one in documents.cluster(recipe)] == [100_000, 100_000]


def test_the_largest_bucket_without_duplicates(tmp_path: Path) -> None:
    documents = Signed(tmp_path, signatures(4, 10))
    recipe = documents.recipe("1GB")
    documents.lay_out(recipe)
    records = documents.match(recipe)
    assert [record.facts for record in records] == [{"largest_bucket": 1}]


def test_partitions_by_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "STRIDE", 7)
    monkeypatch.setattr(cluster, "WORTH_SHARING", 2)
    values = signatures(5, 40)
    for a, b in ((1, 6), (2, 30), (7, 8), (22, 39)):
        values[b] = values[a]
    documents = Signed(tmp_path, values)
    recipe = documents.recipe("1GB")
    documents.lay_out(recipe)
    documents.match(recipe)
    assert documents.cluster(recipe) == [[1, 6], [2, 30], [7, 8], [22, 39]]
    record = cluster.record_of(documents.store, recipe, documents.manifest)
    expected = {1: 0, 6: 0, 2: 1, 30: 1, 7: 2, 8: 2, 22: 3, 39: 3}
    for start in range(40):
        for stop in range(start + 1, 41):
            numbers, partitions = cluster.partitions_of(documents.store, record, start, stop)
            assert dict(zip(numbers.tolist(), partitions.tolist(), strict=True)) == {
                number: partition for number, partition in expected.items() if start <= number < stop
            }
            assert (np.diff(numbers) > 0).all()
