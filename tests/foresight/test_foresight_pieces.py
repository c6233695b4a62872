"""Where a sample is read: places all over a dataset, each once, and how much of the files that is."""

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from zydaflow.foresight.pieces import Reader, pieces
from zydaflow.recipe import DatasetSpec
from zydaflow.sources import plan_dataset

COUNT = 4000
RANDOM = random.Random(1)
TEXTS = [f"text {number} " + RANDOM.randbytes(250).hex() for number in range(COUNT)]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
FORMS = ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "groups.parquet", "arrow"]


def write(path: Path) -> DatasetSpec:
    """The texts as a file of the form that its name says."""
    table = pa.table({"text": pa.array(TEXTS)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=20 if "groups" in path.name else COUNT)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=100)
    else:
        pack = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(path.suffix, bytes)
        path.write_bytes(pack(LINES))
    return DatasetSpec(name="d", path=str(path))


def read(dataset: DatasetSpec, allowance: float, seed: int = 1) -> tuple[list[str], Reader]:
    reader = Reader(dataset, plan_dataset(dataset, 500_000), allowance, seed)
    return [text for batch in reader.batches() for text in batch.records["text"].to_pylist()], reader


@pytest.mark.parametrize("form", FORMS)
def test_a_dataset_that_fits_is_read_whole(tmp_path: Path, form: str) -> None:
    texts, reader = read(write(tmp_path / f"d.{form}"), 10_000_000)
    assert sorted(texts) == sorted(TEXTS)
    assert (reader.scale, reader.whole, reader.cut) == (1.0, True, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_as_large_as_allowed_and_knows_its_share(tmp_path: Path, form: str) -> None:
    texts, reader = read(write(tmp_path / f"d.{form}"), 300_000)
    size = sum(map(len, texts))
    assert len(set(texts)) == len(texts)
    assert 250_000 < size < 500_000
    assert not reader.whole
    assert reader.scale * size == pytest.approx(sum(map(len, TEXTS)), rel=0.25)


@pytest.mark.parametrize(("form", "cut"), [("jsonl", 0), ("groups.parquet", 0), ("parquet", 1), ("jsonl.gz", 1)])
def test_it_is_from_many_places_where_the_form_allows(tmp_path: Path, form: str, cut: int) -> None:
    dataset = write(tmp_path / f"d.{form}")
    texts, reader = read(dataset, 300_000)
    numbers = [int(text.split()[1]) for text in texts]
    assert reader.cut == cut
    assert (max(numbers) - min(numbers) > 2000) == (not cut)
    assert read(dataset, 300_000)[0] == texts
    assert cut or read(dataset, 300_000, seed=2)[0] != texts


def test_no_more_is_read_of_text_that_compresses_better_than_thought(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress((json.dumps({"text": "a" * 1000}) + "\n").encode() * 2000))
    texts, reader = read(DatasetSpec(name="d", path=str(tmp_path)), 300_000)
    assert 300_000 < sum(map(len, texts)) < 500_000
    assert (reader.cut, reader.whole) == (1, False)


def test_every_file_has_its_chance(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / f"{number:02d}.jsonl.gz")
    dataset = DatasetSpec(name="d", path=str(tmp_path))
    texts, reader = read(dataset, 1_000_000)
    assert reader.cut in (7, 8)  # an eighth from each
    assert reader.scale == pytest.approx(20 * sum(map(len, TEXTS)) / sum(map(len, texts)), rel=0.25)
    order = [piece.shard.file for piece in pieces(plan_dataset(dataset, 500_000), 2**16, 1)]
    assert sorted(order) == [f"{number:02d}.jsonl.gz" for number in range(20)] != order


def test_documents_that_the_recipe_leaves_out_are_paid_for(tmp_path: Path) -> None:
    dataset = write(tmp_path / "d.jsonl").model_copy(update={"sample": 0.1})
    texts, reader = read(dataset, 300_000)
    assert sum(map(len, texts)) < 60_000
    assert reader.scale * len(texts) == pytest.approx(0.1 * COUNT, rel=0.5)
