"""The shard plan: columns checked before a run, shards in canonical order."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import jsonl, spec

from zydaflow.errors import InputError
from zydaflow.sources import plan, plan_dataset, read_shard
from zydaflow.sources.listing import InputFile
from zydaflow.sources.peek import MAX_BYTES


def write_arrow(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@pytest.fixture(params=["jsonl", "jsonl.gz", "parquet", "arrow"])
def path(request, tmp_path):
    path = tmp_path / f"a.{request.param}"
    records = [{"content": "a", "n": 1, "url": "u"}]
    if request.param == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif request.param == "arrow":
        write_arrow(pa.Table.from_pylist(records), path)
    else:
        path.write_bytes(jsonl(records) if request.param == "jsonl" else gzip.compress(jsonl(records)))
    return path


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "has no column 'text', which text: names in the recipe; it has content, n, url"),
        ({"text": "content", "id": "key"}, "has no column 'key', which id: names"),
        ({"text": "content", "license": {"column": "key"}}, "has no column 'key', which license: names"),
        ({"text": "content", "metadata": ("url", "key")}, "has no column 'key', which metadata: names"),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(path, keys, message):
    with pytest.raises(InputError, match=message) as caught:
        plan_dataset(spec(path, **keys), 100)
    assert str(path) in str(caught.value)


def test_columns_that_are_there_are_listed(path):
    found = plan_dataset(spec(path, text="content", id="n", metadata=("url",), license={"column": "url"}), 100)
    assert found.columns == {"content": "string", "n": "number" if "jsonl" in path.name else "int64", "url": "string"}


@pytest.mark.parametrize("kind", [pa.int64(), pa.binary(), pa.list_(pa.string())], ids=str)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_text_column_that_holds_no_strings_is_refused(tmp_path, kind, suffix):
    path = tmp_path / f"a.{suffix}"
    table = pa.table({"text": pa.array([None], kind), "body": ["a"]})
    (pq.write_table if suffix == "parquet" else write_arrow)(table, path)
    with pytest.raises(InputError, match=r"not string; set text: to the column that holds the text, it has text, body"):
        plan_dataset(spec(path), 100)


def test_json_lines_without_a_string_among_the_first_texts_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": 5}\n{"text": ["a"], "body": "a"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl is array or number, not string; set text: .*, it has text, body"):
        plan_dataset(spec(tmp_path), 100)
    for text in (b"null", b'"a"'):
        (tmp_path / "b.jsonl").write_bytes(b'{"text": %s}\n' % text)
        plan_dataset(spec(tmp_path), 100)
    (tmp_path / "a.jsonl").write_bytes(b'{"text": 5}\n{"text": null}\n{"text": "a"}\n')
    (tmp_path / "b.jsonl").unlink()
    plan_dataset(spec(tmp_path), 100)


def test_every_file_is_checked_for_the_text(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n')
    (tmp_path / "b.jsonl").write_bytes(b'{"content": "a"}\n')
    with pytest.raises(InputError, match=r"b\.jsonl has no column 'text'"):
        plan_dataset(spec(tmp_path), 100)


def test_a_key_that_only_some_records_have_is_found_among_the_first(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'broken\n{"id": null}\n{"text": "a", "id": 7}\n')
    assert plan_dataset(spec(tmp_path, id="id"), 100).columns == {"id": "number", "text": "string"}
    (tmp_path / "b.jsonl").write_bytes(b"")
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "no id in this file"}\n')
    assert len(plan_dataset(spec(tmp_path, id="id"), 100).files) == 3


def test_shards_are_in_canonical_order_and_cover_the_files(tmp_path):
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "a"}\n' * 100)
    (tmp_path / "B.jsonl").write_bytes(b'{"text": "a"}\n' * 10)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n'))
    found = plan_dataset(spec(tmp_path), 500)
    ranges = [(shard.file, shard.start, shard.stop) for shard in found.shards]
    assert ranges == [
        ("B.jsonl", 0, 140),
        ("b.jsonl", 0, 500),
        ("b.jsonl", 500, 1000),
        ("b.jsonl", 1000, 1400),
        ("c.jsonl.gz", 0, -1),
    ]
    assert [shard.form for shard in found.shards] == ["jsonl"] * 4 + ["jsonl.gz"]
    assert {shard.dataset for shard in found.shards} == {"d"}
    assert [shard.name for shard in found.shards] == sorted(shard.name for shard in found.shards)
    assert found.shards[1].version == found.files[1].version


def test_two_files_of_one_name_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n')
    twins = [
        InputFile(str(tmp_path / "a.jsonl"), "a.jsonl", 14, ""),
        InputFile("s3://other/a.jsonl", "a.jsonl", 14, ""),
    ]
    monkeypatch.setattr(plan, "list_files", lambda dataset: twins)
    with pytest.raises(InputError, match=r"are both a\.jsonl in it"):
        plan_dataset(spec(tmp_path), 100)


def test_a_file_that_may_not_be_read_is_an_input_error(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n')

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("zydaflow.sources.open._open", refuse)
    with pytest.raises(InputError, match=r"a\.jsonl: cannot be read: .*Permission denied"):
        plan_dataset(spec(tmp_path), 100)


ARRAY = b'[{"text": "a"},\n {"text": "b"}]\n'
NO_RECORDS = [
    (ARRAY, "it looks like a JSON array: write each of its records on a line of its own"),
    (b'[{"text": "a"}]', "it looks like a JSON array"),
    (b"[" + b'{"text": "a"}, ' * 2_000_000, "it looks like a JSON array"),
    ('{"text": "a"}\n'.encode("utf-16"), "it looks like UTF-16: convert it to UTF-8"),
    ('{"text": "a"}\n'.encode("utf-16-be"), "it looks like UTF-16: convert it to UTF-8"),
    (b'{"text": "a"}\r{"text": "b"}\r', "its lines end in CR alone: end them in LF"),
    (b'{"text": "a"}\r' * 2_000_000, "its lines end in CR alone: end them in LF"),
    (b'{\n  "text": "a"\n}\n', "write one JSON object per line"),
    (b"id\ttext\n1\ta\n", "write one JSON object per line"),
]


@pytest.mark.parametrize(("data", "advice"), NO_RECORDS, ids=range(len(NO_RECORDS)))
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dataset_that_does_not_begin_with_a_record_is_refused(tmp_path, data, advice, pack):
    path = tmp_path / ("a.jsonl" if pack is bytes else "a.jsonl.gz")
    path.write_bytes(pack(data))
    with pytest.raises(InputError) as caught:
        plan_dataset(spec(path), 10**6)
    assert str(caught.value).startswith(f"dataset d: {path}: none of its first lines is a JSON object; {advice}")


def test_bad_first_lines_are_no_reason_to_refuse_what_has_good_ones(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"bad\n" * 50_000 + b'{"text": "a"}\n')
    (tmp_path / "b.jsonl").write_bytes(ARRAY)
    (tmp_path / "c.jsonl").write_bytes(b"\n \n")
    assert len(plan_dataset(spec(tmp_path), 10**6).files) == 3
    assert len(plan_dataset(spec(tmp_path / "c.jsonl"), 10**6).files) == 1


def test_a_first_record_longer_than_what_is_looked_at_is_let_through(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "' + b"x" * MAX_BYTES + b'"}\n')
    found = plan_dataset(spec(tmp_path), 10**9)
    assert (len(found.shards), found.columns) == (1, {})


def test_a_byte_order_mark_does_not_hide_the_first_record(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a"}\n')
    assert plan_dataset(spec(tmp_path), 100).columns == {"text": "string"}


def test_a_file_written_again_with_the_same_size_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n')
    dataset = spec(path)
    (shard,) = plan_dataset(dataset, 100).shards
    path.write_bytes(b'{"text": "b"}\n')
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    with pytest.raises(InputError, match=r"a\.jsonl: was written again since the run was planned; plan again"):
        list(read_shard(shard, dataset, part_bytes=100, seed=1))
