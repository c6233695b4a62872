import gzip
import json
import os
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import zstandard

from zydaflow.draft.peek import RECORDS, peek
from zydaflow.draft.survey import inspect_paths, slug
from zydaflow.errors import InputError
from zydaflow.provenance.run_file import KEYS
from zydaflow.sources.peek import MAX_BYTES

ROWS = [{"id": number, "text": f"text {number}", "n": None} for number in range(3)]


def jsonl(path: Path, rows: list[dict] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    if path.suffix == ".gz":
        data = gzip.compress(data)
    if path.suffix == ".zst":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def write_table(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def found(*paths: Path) -> list[tuple]:
    return [
        (finding.name, finding.path, finding.form, finding.files) for finding in inspect_paths(list(map(str, paths)))
    ]


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        inspect_paths([str(path)])
    assert caught.value.exit_code == 3
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "a.jsonl.zst"])
def test_columns_of_jsonl(tmp_path, name):
    rows = [*ROWS, {"id": "x", "text": None, "tags": [], "meta": {}, "f": 0.5, "b": True}]
    columns = peek(jsonl(tmp_path / name, rows))
    assert columns.types == {
        "id": "number or string",
        "text": "string",
        "n": "null",
        "tags": "array",
        "meta": "object",
        "f": "number",
        "b": "boolean",
    }
    assert columns.texts == {"text": ["text 0", "text 1", "text 2"]}


def test_columns_of_parquet_and_arrow(tmp_path):
    table = pa.table({"id": [1, 2], "text": pa.array(["a", None], pa.large_string()), "tags": [["x"], []]})
    pq.write_table(table, tmp_path / "a.parquet")
    for name, opener in [("stream.arrow", pa.ipc.new_stream), ("file.arrow", pa.ipc.new_file)]:
        with opener(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    for name in ["a.parquet", "stream.arrow", "file.arrow"]:
        columns = peek(tmp_path / name)
        assert columns.types["id"] == "int64"
        assert columns.types["text"] == "large_string"
        assert columns.types["tags"].startswith("list<")
        assert columns.texts == {"text": ["a"]}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_text_of_every_string_type(tmp_path, kind, name):
    values = pa.array(["a", None, "b"])
    values = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    write_table(pa.table({"text": values, "nothing": pa.nulls(3)}), tmp_path / name)
    assert peek(tmp_path / name).texts == {"text": ["a", "b"]}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_invalid_utf8_in_a_table_is_replaced(tmp_path, name):
    values = pa.Array.from_buffers(pa.string(), 2, pa.array([b"caf\xe9", b"ok"], pa.binary()).buffers())
    write_table(pa.table({"text": values}), tmp_path / name)
    assert peek(tmp_path / name).texts == {"text": ["caf\ufffd", "ok"]}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_columns_of_one_name_are_not_shown(tmp_path, name):
    write_table(pa.table([["a"], ["b"], ["c"], [1], [2]], names=["text", "text", "body", "id", "id"]), tmp_path / name)
    columns = peek(tmp_path / name)
    assert (columns.types, columns.texts) == ({"body": "string"}, {"body": ["c"]})


def test_a_byte_order_mark_does_not_hide_the_only_record(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}')
    assert peek(path).texts == {"text": ["a"]}


def test_lone_surrogates_are_replaced(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(rb'{"text": "a\ud83d"}')
    assert peek(path).texts == {"text": ["a\ufffd"]}


def test_what_is_no_json_lines_is_refused_with_advice(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('[{"text": "a"}]')
    assert error_of(path) == (
        f"{path}: none of its first lines is a JSON object; "
        "it looks like a JSON array: write each of its records on a line of its own"
    )


def test_the_output_of_a_run_is_no_dataset(tmp_path):
    jsonl(tmp_path / "a.jsonl")
    jsonl(tmp_path / "runs" / "x" / "evidence" / "removed.jsonl")
    assert len(found(tmp_path)) == 2
    (tmp_path / "runs" / "x" / "run.json").write_text(json.dumps(dict.fromkeys(KEYS)))
    assert found(tmp_path) == [("a", f"{tmp_path}/a.jsonl", "jsonl", 1)]


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    jsonl(tmp_path / os.fsdecode(b"caf\xe9.jsonl"))
    assert error_of(tmp_path) == f"'{tmp_path}/caf\\udce9.jsonl': the name is not UTF-8; rename it"


def test_files_without_records_have_columns_at_most(tmp_path):
    schema = pa.schema([("text", pa.string())])
    pq.write_table(schema.empty_table(), tmp_path / "a.parquet")
    with pa.ipc.new_file(tmp_path / "a.arrow", schema):
        pass
    assert peek(tmp_path / "a.parquet").texts == peek(tmp_path / "a.arrow").texts == {"text": []}
    assert peek(jsonl(tmp_path / "a.jsonl", [])).types == {}


def test_bad_lines_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\n{"text": \n[1]\n{"text": "\xff"}\n{"text": "good\xe2\x80\xa8"}')
    assert peek(path).texts == {"text": ["\ufffd", "good\u2028"]}


def test_only_the_beginning_of_a_file_is_read(tmp_path):
    path = jsonl(tmp_path / "a.jsonl", [{"text": "x"}] * (RECORDS + 1))
    assert len(peek(path).texts["text"]) == RECORDS
    path = tmp_path / "b.jsonl"
    with path.open("wb") as file:
        file.write(b'{"text": "')
        file.truncate(MAX_BYTES * 100)  # a sparse file: one line without an end
    assert peek(path).types == {}


def test_a_folder_of_several_datasets(tmp_path):
    data = tmp_path / "data"
    for name in ["blog/part-0.jsonl.zst", "blog/part-1.jsonl.zst", "News A.jsonl", "code-a.jsonl", "code-b.jsonl"]:
        jsonl(data / name)
    for name in ["README.md", ".hidden.jsonl", "settings.json"]:
        (data / name).write_text("no")
    (data / "empty").mkdir()
    assert found(data) == [
        ("news-a", f"{data}/News A.jsonl", "jsonl", 1),
        ("code-a", f"{data}/code-a.jsonl", "jsonl", 1),
        ("code-b", f"{data}/code-b.jsonl", "jsonl", 1),
        ("blog", f"{data}/blog", "jsonl.zst", 2),
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["000_00000.jsonl", "000_00001.jsonl", "001_00000.jsonl"],
        ["train-00000-of-00002-0123456789abcdef.jsonl", "train-00001-of-00002-fedcba9876543210.jsonl"],
        ["c4.1.jsonl", "c4.2.jsonl"],
        ["CC-2020-05/a.jsonl", "CC-2021-10/b.jsonl"],
        ["chunk1/a.jsonl", "chunk2/deep/a.jsonl"],
    ],
)
def test_what_differs_in_numbers_alone_is_one_dataset(tmp_path, names):
    for name in names:
        jsonl(tmp_path / "web" / name)
    assert found(tmp_path / "web") == [("web", f"{tmp_path}/web", "jsonl", len(names))]


def test_numbered_files_beside_others_go_by_a_glob(tmp_path):
    web = tmp_path / "we[b]"
    for name in ["train-0.jsonl", "train-1.jsonl", "test-0.jsonl", "test-1.jsonl", "test-x.jsonl"]:
        jsonl(web / name)
    assert found(web) == [
        ("test-0", f"{web}/test-0.jsonl", "jsonl", 1),  # their glob would match test-x too
        ("test-1", f"{web}/test-1.jsonl", "jsonl", 1),
        ("test-x", f"{web}/test-x.jsonl", "jsonl", 1),
        ("train", f"{tmp_path}/we[[]b]/train[-_.0-9]*.jsonl", "jsonl", 2),
    ]


def test_folders_below_folders_and_equal_names(tmp_path):
    for name in ["blog/train.jsonl", "blog/test.jsonl", "news/train.jsonl"]:
        jsonl(tmp_path / name)
    (tmp_path / "news" / "again").symlink_to(tmp_path, target_is_directory=True)
    names = [name for name, *_ in found(tmp_path, tmp_path / "blog" / "train.jsonl", tmp_path / "news" / "train.jsonl")]
    assert names == ["blog-test", "blog-train", "news", "train", "train-2"]


def test_saved_datasets(tmp_path):
    dataset = datasets.Dataset.from_dict({"content": ["a", "b"]})
    dataset.save_to_disk(tmp_path / "v1", num_shards=2)
    dataset.save_to_disk(tmp_path / "v2")
    splits = datasets.DatasetDict({"test": dataset, "train": dataset})
    splits.save_to_disk(tmp_path / "splits")
    whole, *saved = inspect_paths([str(tmp_path)])
    assert [(finding.name, finding.form, finding.files) for finding in saved] == [
        ("v1", "save_to_disk", 2),
        ("v2", "save_to_disk", 1),
    ]
    assert (whole.name, whole.form, whole.split, whole.other_splits) == ("splits", "DatasetDict", "train", ("test",))
    assert whole.bytes == next((tmp_path / "splits" / "train").glob("*.arrow")).stat().st_size
    assert [finding.columns.texts["content"] for finding in [whole, *saved]] == [["a", "b"], ["a"], ["a", "b"]]


def test_the_first_file_that_is_not_empty_is_looked_at(tmp_path):
    jsonl(tmp_path / "a" / "0.jsonl", [])
    jsonl(tmp_path / "a" / "1.jsonl")
    (finding,) = inspect_paths([str(tmp_path / "a")])
    assert (finding.files, list(finding.columns.types)) == (2, ["id", "text", "n"])


def test_what_cannot_be_read_is_named(tmp_path):
    forms = ".jsonl, .jsonl.gz, .jsonl.zst, .parquet and .arrow files, and folders of datasets.save_to_disk"
    assert error_of(tmp_path) == f"{tmp_path}: nothing here that zydaflow reads; it reads {forms}"
    table = tmp_path / "a.csv"
    table.write_text("a,b")
    assert error_of(table) == f"{table}: nothing here that zydaflow reads; it reads {forms}"
    assert error_of(tmp_path / "none") == f"{tmp_path}/none: no such file or folder"
    damaged = "damaged, cut short, or not what its name says: "
    for name, wrong in [("a.parquet", damaged), ("a.arrow", damaged), ("a.jsonl.gz", "not gzip data")]:
        broken = tmp_path / name
        broken.write_bytes(b"no such thing")
        assert error_of(broken).startswith(f"{broken}: {wrong}")
    (tmp_path / "saved").mkdir()
    state = tmp_path / "saved" / "state.json"
    for text, wrong in [
        ("{", "is not what datasets.save_to_disk writes: JSONDecodeError("),
        ("{}", "is not what datasets.save_to_disk writes: KeyError('_data_files')"),
        ('{"_data_files": []}', "lists no _data_files: the dataset is empty; leave it out"),
    ]:
        state.write_text(text)
        assert error_of(state.parent).startswith(f"{state}: {wrong}")
    state.write_text('{"_data_files": [{"filename": "gone.arrow"}]}')
    assert error_of(state.parent).startswith(f"{state.parent}: cannot be read: [Errno 2]")


@pytest.mark.parametrize(
    ("text", "name"),
    [("My Data!", "my-data"), ("..", "data"), ("é", "data"), ("-x_1.b-", "x_1.b"), ("a" * 99, "a" * 80)],
)
def test_slugs(text, name):
    assert slug(text) == name
