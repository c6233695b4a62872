"""Shards and the files beside them, as `datasets` opens them."""

import io
import json
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pytest

from zydaflow.tokens import Encoded, ShardWriter, folder_files, token_batches, token_schema

SIGNALS = [pa.field("n_words", pa.int64()), pa.field("score", pa.float64())]


def rows_of(start: int, stop: int) -> pa.Table:
    numbers = range(start, stop)
    return pa.table(
        {
            "text": pa.array([f"text {n}" for n in numbers], pa.large_string()),
            "license": pa.array([None if n % 3 else "MIT" for n in numbers], pa.string()),
            "position": pa.array(numbers, pa.int64()),
            "text_hash": pa.array([n.to_bytes(16, "big") for n in numbers], pa.binary(16)),
            "id": pa.array([None if n % 2 else f"id{n}" for n in numbers], pa.string()),
            "n_duplicates": pa.array([n % 4 for n in numbers], pa.int64()),
            "duplicate_sources": pa.array([[0] * (n % 2) for n in numbers], pa.list_(pa.uint16())),
            "file": pa.array(["a.jsonl" for _ in numbers], pa.string()),
            "n_words": pa.array([None if n % 5 == 0 else n for n in numbers], pa.int64()),
            "score": pa.array([None if n % 2 == 0 else n / 4 for n in numbers], pa.float64()),
        }
    )


def tokens_of(start: int, stop: int) -> Encoded:
    lengths = [n % 3 + 1 for n in range(start, stop)]
    ids = [token for n in range(start, stop) for token in [*range(1000 + n, 1000 + n + n % 3), 0]]
    return Encoded(np.array(ids, np.uint16), np.cumsum([0, *lengths]))


def schema() -> pa.Schema:
    return token_schema(np.dtype(np.uint16), True, SIGNALS)


def shard(spans: list[tuple[int, int]]) -> bytes:
    out = io.BytesIO()
    writer = ShardWriter(out, schema())
    for start, stop in spans:
        for batch in token_batches(schema(), rows_of(start, stop), "blog", tokens_of(start, stop), ["blog"]):
            writer.write(batch)
    writer.finish()
    return out.getvalue()


def write_folder(folder: Path, shards: list[bytes]) -> Path:
    names = [f"data-{n:05d}-of-{len(shards):05d}.arrow" for n in range(len(shards))]
    for name, content in zip(names, shards, strict=True):
        (folder / name).write_bytes(content)
    for name, content in folder_files(schema(), names, "0123456789abcdef0123456789abcdef").items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("spans", [[[]], [[(0, 4), (4, 10)]], [[(0, 4)], [(4, 5), (5, 7)], [(7, 10)]]])
def test_load_from_disk_maps_the_shards_as_they_are(tmp_path: Path, spans: list[list[tuple[int, int]]]) -> None:
    folder = write_folder(tmp_path, [shard(span) for span in spans])
    before = sorted(folder.iterdir())
    dataset = datasets.load_from_disk(str(folder))
    count = max((stop for span in spans for _, stop in span), default=0)
    assert dataset.num_rows == count
    assert dataset.data.schema.types == schema().types
    assert dataset.features == datasets.Features.from_arrow_schema(schema())
    assert [Path(file["filename"]) for file in dataset.cache_files] == sorted(folder.glob("*.arrow"))
    assert dataset["n_tokens"][:] == [n % 3 + 1 for n in range(count)]
    assert [row["input_ids"] for row in dataset] == [[*range(1000 + n, 1000 + n + n % 3), 0] for n in range(count)]
    assert dataset.select(range(count // 2)).num_rows == count // 2
    assert sorted(folder.iterdir()) == before
    assert datasets.load_from_disk(str(folder))._fingerprint == dataset._fingerprint


def test_the_rows_are_mapped_and_not_copied(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [shard([(0, 2000)])])
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    dataset = datasets.load_from_disk(str(folder))
    assert dataset.num_rows == 2000
    assert pa.total_allocated_bytes() == before
    alone = datasets.Dataset.from_file(str(folder / "data-00000-of-00001.arrow"))
    assert pa.total_allocated_bytes() == before
    assert alone.features == dataset.features
    assert alone[1999] == dataset[1999]
    assert dataset[3] == {
        "input_ids": [0], "n_tokens": 1, "source": "blog", "source_id": None, "source_file": "a.jsonl",
        "source_position": 3, "text_hash": "00000000000000000000000000000003", "license": "MIT", "n_duplicates": 3,
        "duplicate_sources": ["blog"], "text": "text 3", "n_words": 3, "score": 0.75,
    }  # fmt: skip


def test_the_stream_carries_the_features() -> None:
    with pa.ipc.open_stream(shard([(0, 3)])) as stream:
        info = json.loads(stream.schema.metadata[b"huggingface"])["info"]
    assert info["features"]["input_ids"] == {"feature": {"dtype": "uint16", "_type": "Value"}, "_type": "List"}
    assert folder_files(schema(), ["x"], "0" * 16)["dataset_info.json"]["features"] == info["features"]


def written(batch: pa.RecordBatch) -> bytes:
    out = io.BytesIO()
    writer = ShardWriter(out, batch.schema)
    writer.write(batch)
    writer.finish()
    return out.getvalue()


def test_equal_batches_give_equal_bytes_wherever_they_come_from() -> None:
    (plain,) = token_batches(schema(), rows_of(10, 30), "blog", tokens_of(10, 30), ["blog"])
    (longer,) = token_batches(schema(), rows_of(3, 50), "blog", tokens_of(3, 50), ["blog"])
    parts = []
    for start, stop in ((10, 17), (17, 30)):
        parts += token_batches(schema(), rows_of(start, stop), "blog", tokens_of(start, stop), ["blog"])
    joined = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
    taken = longer.take(pa.array(range(7, 27)))
    assert {written(batch) for batch in (longer.slice(7, 20), longer.slice(7).slice(0, 20), joined, taken)} == {
        written(plain)
    }


def test_what_lies_under_a_null_is_not_written() -> None:
    validity = pa.py_buffer(b"\x05")
    clean, dirty = (
        pa.Array.from_buffers(pa.int64(), 3, [validity, pa.py_buffer(np.array([1, under, 3]))]) for under in (0, 99)
    )
    assert clean.equals(dirty)
    batches = [pa.RecordBatch.from_arrays([column], ["n"]) for column in (clean, dirty)]
    assert written(batches[0]) == written(batches[1])
    padded = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\xfd"), clean.buffers()[1]])
    assert written(pa.RecordBatch.from_arrays([padded], ["n"])) == written(batches[0])
