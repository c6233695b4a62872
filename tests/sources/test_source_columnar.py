"""Parquet and Arrow files: string types, ids, metadata, batches, and files that are not whole."""

import datetime
import decimal
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import jsonl, read, spec

from zydaflow.errors import InputError
from zydaflow.sources import plan_dataset, read_shard, records
from zydaflow.sources.open import local_version


def write_stream(table, path, rows=1000):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


def write_file(table, path, rows=1000):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


def write_parquet(table, path, rows=1000):
    pq.write_table(table, path, row_group_size=rows)


WRITERS = {"stream": write_stream, "file": write_file, "parquet": write_parquet}


@pytest.fixture(params=WRITERS)
def write(request, tmp_path):
    def write(table, rows=1000):
        path = tmp_path / ("a.parquet" if request.param == "parquet" else "a.arrow")
        WRITERS[request.param](table, path, rows)
        return path

    return write


STRINGS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("kind", STRINGS, ids=str)
def test_text_of_every_string_type(write, kind):
    texts = ["one", None, "", "two\u2028", "one", "é😀"]
    values = pa.array(texts)
    values = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    got = read(write(pa.table({"text": values}), rows=2))
    assert got.texts == texts
    assert got.positions == [0, 1, 2, 3, 4, 5]
    assert {str(batch.records.schema.field("text").type) for batch in got.batches} == {"large_string"}


def test_a_text_column_of_nulls(write):
    assert read(write(pa.table({"text": pa.nulls(3)}))).texts == [None] * 3


def test_a_table_without_rows_gives_no_batch(write):
    assert read(write(pa.table({"text": pa.array([], pa.string())}))).batches == []


def invalid_strings(values, kind):
    array = pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(array), array.buffers())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_invalid_utf8_is_replaced_and_counted(write, kind):
    text = invalid_strings([b"good", b"caf\xe9", None, b"\xed\xa0\xbd", b"end"], kind)
    ids = invalid_strings([b"\xff", b"\xff", b"c", None, b"e"], kind)
    got = read(write(pa.table({"text": text, "id": ids})), id="id")
    assert got.texts == ["good", "caf\ufffd", None, "\ufffd\ufffd\ufffd", "end"]
    assert got.ids == ["\ufffd", "\ufffd", "c", None, "e"]
    assert got.repaired == 3


def test_invalid_utf8_in_nested_metadata_is_replaced_and_counted(write):
    leaf = invalid_strings([b"ok", b"\xff", b"ok"], pa.string())
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], leaf)
    maps = pa.MapArray.from_arrays([0, 1, 2, 3], pa.array(["k", "k", "k"]), leaf)
    nothing = pa.array([[1], None, [2, 3]])
    nested = pa.StructArray.from_arrays([leaf, lists, maps, nothing], ["s", "l", "m", "n"])
    got = read(write(pa.table({"text": ["a", "b", "c"], "x": nested})), metadata=("x",))
    assert got.metadata == [
        {"x": {"s": "ok", "l": ["ok"], "m": {"k": "ok"}, "n": [1]}},
        {"x": {"s": "\ufffd", "l": ["\ufffd"], "m": {"k": "\ufffd"}, "n": None}},
        {"x": {"s": "ok", "l": ["ok"], "m": {"k": "ok"}, "n": [2, 3]}},
    ]
    assert got.repaired == 1


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([9007199254740993, None]), ["9007199254740993", None]),
        (pa.array([2**64 - 1, None], pa.uint64()), ["18446744073709551615", None]),
        (pa.array([0.1, float("nan")]), ["0.1", None]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([7, 8]).dictionary_encode(), ["7", "8"]),
        (pa.array(["x", None]).dictionary_encode(), ["x", None]),
        (pa.array([decimal.Decimal("12345678901234567890.10"), None]), ["12345678901234567890.10", None]),
        (pa.array([datetime.date(2020, 1, 2), None]), ["2020-01-02", None]),
        (pa.array([b"\xff\x00", None]), ["/wA=", None]),
        (pa.array([{"a": 1}, None]), ['{"a":1}', None]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_ids_survive_exactly(write, values, texts):
    assert read(write(pa.table({"text": ["a", "b"], "id": values})), id="id").ids == texts


def test_metadata_of_columns_that_json_has_no_type_for(write):
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 600)
    table = pa.table(
        {
            "text": ["a"],
            "when": [moment],
            "nanos": pa.array([1577934245000000601], pa.timestamp("ns", "UTC")),
            "day": [moment.date()],
            "time": [moment.time()],
            "amount": [decimal.Decimal("1.10")],
            "raw": [b"\x00\xff"],
            "nan": [float("nan")],
            "big": pa.array([2**64 - 1], pa.uint64()),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "null": pa.nulls(1),
        }
    )
    names = tuple(table.column_names[1:])
    row = read(write(table), metadata=names).rows[0]
    assert json.loads(row["metadata"]) == {
        "when": "2020-01-02T03:04:05.000600",
        "nanos": "2020-01-02T03:04:05.000000601+00:00",
        "day": "2020-01-02",
        "time": "03:04:05.000600",
        "amount": "1.10",
        "raw": "AP8=",
        "nan": None,
        "big": 2**64 - 1,
        "map": {"k": 1},
        "null": None,
    }
    assert list(json.loads(row["metadata"])) == sorted(names)


def test_the_same_data_give_the_same_records_in_every_form(write, tmp_path):
    rows = [
        {"text": "é\n", "id": 1, "l": "MIT", "m": {"b": [0.1, 2.5, None], "a": "x"}, "n": None},
        {"text": None, "id": 2**63 - 1, "l": None, "m": {"b": [], "a": None}, "n": None},
        {"text": "", "id": None, "l": "X", "m": None, "n": None},
    ]
    (tmp_path / "a.jsonl").write_bytes(jsonl(rows))
    keys = {"id": "id", "license": {"column": "l"}, "metadata": ("m", "n")}
    expected = [{**row, "position": None} for row in read(tmp_path / "a.jsonl", **keys).rows]
    got = [{**row, "position": None} for row in read(write(pa.Table.from_pylist(rows)), **keys).rows]
    assert got == expected


def test_metadata_that_some_files_lack_is_null_there(tmp_path):
    write_parquet(pa.table({"text": ["a"], "m": ["x"]}), tmp_path / "1.parquet")
    write_parquet(pa.table({"text": ["b"]}), tmp_path / "2.parquet")
    write_stream(pa.table({"text": ["c"], "m": pa.nulls(1)}), tmp_path / "3.arrow")
    write_stream(pa.table({"text": ["d"]}), tmp_path / "4.arrow")
    (tmp_path / "5.jsonl").write_bytes(b'{"text": "e", "m": {"k": 1}}\n{"text": "f"}\n')
    got = read(tmp_path, metadata=("m",))
    assert got.texts == list("abcdef")
    assert [row["m"] for row in got.metadata] == ["x", None, None, None, {"k": 1}, None]


@pytest.mark.parametrize("shard_bytes", [1, 5000, 10**9])
@pytest.mark.parametrize("batch_bytes", [100, 3000, 8_000_000])
def test_shards_and_batches_of_any_size_hold_the_same_rows(write, shard_bytes, batch_bytes):
    texts = ["w" * (i * 37 % 500) for i in range(300)]
    got = read(
        write(pa.table({"text": texts, "x": range(300)}), rows=40), shard_bytes=shard_bytes, batch_bytes=batch_bytes
    )
    assert got.texts == texts
    assert got.positions == list(range(300))
    sizes = [sum(len(text) for text in batch.records["text"].to_pylist()) for batch in got.batches]
    assert max(sizes) <= batch_bytes + 500


def test_small_row_groups_are_gathered_into_batches(write):
    got = read(write(pa.table({"text": ["w" * 100] * 1000}), rows=10))
    assert [len(batch.records) for batch in got.batches] == [1000]


def test_row_groups_are_grouped_up_to_shard_bytes(tmp_path):
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(97, 123, 1000))) for _ in range(100)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": texts, "unused": texts}), path, row_group_size=10)
    shards = plan_dataset(spec(path), 25_000).shards
    assert [(shard.start, shard.stop) for shard in shards] == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    assert [shard.name for shard in shards] == sorted(shard.name for shard in shards)


def test_a_value_above_the_limit_is_quarantined_alone(write, monkeypatch):
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 1000)
    got = read(write(pa.table({"text": ["a", "é" * 501, "b" * 1000, None]})))
    assert got.texts == ["a", "b" * 1000, None]
    assert got.positions == [0, 2, 3]
    (row,) = got.bad
    assert row == {
        "position": 1,
        "bytes": 1002,
        "reason": "the record has 1,002 bytes, the limit is 1,000",
        "excerpt": "é" * 200,
    }


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(write, tmp_path, keep):
    path = write(pa.table({"text": [f"text {i}" for i in range(5000)]}), rows=500)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(InputError, match=path.name):
        read(path)


def test_a_stream_cut_between_two_messages_is_refused(tmp_path):
    path = tmp_path / "a.arrow"
    write_stream(pa.table({"text": ["a", "b"]}), path, rows=1)
    path.write_bytes(path.read_bytes()[:-8])  # without the end mark it still reads, silently
    assert pa.ipc.open_stream(path.read_bytes()).read_all().num_rows == 2
    with pytest.raises(InputError, match="no end mark"):
        read(path)


def test_a_second_stream_in_a_file_is_refused(tmp_path):
    path = tmp_path / "a.arrow"
    write_stream(pa.table({"text": ["a"]}), path)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(InputError, match="data follow the end"):
        read(path)


def test_a_damaged_page_is_an_input_error(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": [f"{i} text" for i in range(5000)]}), path, compression="zstd", use_dictionary=False
    )
    dataset = spec(path)
    (shard,) = plan_dataset(dataset, 10**9).shards
    data = bytearray(path.read_bytes())
    data[200:3000] = bytes(2800)
    path.write_bytes(data)
    shard = replace(shard, version=local_version(path.stat()))
    with pytest.raises(InputError, match="damaged, cut short"):
        list(read_shard(shard, dataset, part_bytes=10**9, seed=1))


def test_extension_types_and_column_names_with_dots(tmp_path):
    path = tmp_path / "a.arrow"
    values = pa.array(['{"a": 1}', None])
    table = pa.table({"x.text": pa.ExtensionArray.from_storage(pa.json_(), values), "m.n": [1, 2]})
    write_stream(table, path)
    got = read(path, text="x.text", metadata=("m.n",))
    assert got.texts == ['{"a": 1}', None]
    assert got.metadata == [{"m.n": 1}, {"m.n": 2}]
    write_parquet(pa.table({"x.text": ["a", "b"], "x": ["no", "no"]}), tmp_path / "b.parquet")
    assert read(tmp_path / "b.parquet", text="x.text").texts == ["a", "b"]


def test_a_page_that_differs_from_its_checksum_is_an_input_error(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [f"{i} text" for i in range(1000)]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    path.write_bytes(path.read_bytes().replace(b"500 text", b"500 tezt"))  # still a table, with another text
    with pytest.raises(InputError, match=r"a\.parquet: damaged, .*(CRC|checksum)"):
        read(path)


@pytest.mark.parametrize("name", ["text", "id", "m"])
def test_a_needed_name_that_two_columns_have_is_refused(write, name):
    arrays = {"text": ["a"], "id": ["b"], "m": ["c"]}
    table = pa.table([*arrays.values(), ["d"], ["e"], ["f"]], names=[*arrays, name, "unused", "unused"])
    path = write(table)
    with pytest.raises(InputError, match=f"{path}: 2 columns are called '{name}', .*; rename them"):
        read(path, id="id", metadata=("m",))
    others = {"text": "id" if name == "text" else "text"}
    assert len(read(path, **others).texts) == 1
