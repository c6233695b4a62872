"""Which files a path stands for, and what is said where there are none."""

import json
import os

import datasets
import pytest
from reading import read, spec

from zydaflow.errors import InputError
from zydaflow.provenance.run_file import KEYS
from zydaflow.sources import plan_dataset
from zydaflow.sources.forms import form_of

RECORD = b'{"text": "a"}\n'


def write(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(RECORD)


def files(path, **keys):
    return [file.file for file in plan_dataset(spec(path, **keys), 1000).files]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a/b.jsonl", "jsonl"),
        ("b.NDJSON", "jsonl"),
        ("b.jsonl.gz", "jsonl.gz"),
        ("c4.json.gz", "jsonl.gz"),
        ("b.ndjson.zst", "jsonl.zst"),
        ("s3://x/b.parquet", "parquet"),
        ("b.arrow", "arrow"),
        ("b.json", None),
        ("b.parquet.crc", None),
        ("jsonl", None),
        ("_SUCCESS", None),
        ("b.jsonl.bz2", None),
    ],
)
def test_the_form_is_told_by_the_name(path, form):
    assert form_of(path) == form


def test_a_single_file_is_named_by_its_base_name(tmp_path):
    write(tmp_path, "x/a.jsonl")
    (file,) = plan_dataset(spec(tmp_path / "x/a.jsonl"), 1000).files
    assert (file.url, file.file, file.size) == (str(tmp_path / "x/a.jsonl"), "a.jsonl", 14)
    assert file.version.startswith("14-")


def test_a_folder_gives_the_known_files_below_it_in_bytewise_order(tmp_path):
    write(tmp_path, "b.jsonl", "B.jsonl", "é.jsonl", "a/z.jsonl", "a-b.jsonl", "a/deep/er/x.jsonl")
    write(tmp_path, "_SUCCESS", ".b.jsonl.crc", ".hidden/c.jsonl", ".d.jsonl", "notes.txt", "state.txt", "README.md")
    expected = ["B.jsonl", "a-b.jsonl", "a/deep/er/x.jsonl", "a/z.jsonl", "b.jsonl", "é.jsonl"]
    assert files(tmp_path) == expected
    assert files(f"{tmp_path}/") == expected


def test_a_glob_is_relative_to_its_longest_fixed_folder(tmp_path):
    write(tmp_path, "d/x/1.jsonl", "d/y/1.jsonl", "d/y/2.parquet.txt", "e/x/1.jsonl", "d/y/.3.jsonl")
    assert files(f"{tmp_path}/d/*/*.jsonl") == ["x/1.jsonl", "y/1.jsonl"]
    assert files(f"{tmp_path}/*/x/1.jsonl") == ["d/x/1.jsonl", "e/x/1.jsonl"]
    assert files(f"{tmp_path}/**/1.jsonl") == ["d/x/1.jsonl", "d/y/1.jsonl", "e/x/1.jsonl"]
    assert files(f"{tmp_path}/d/[x]/?.jsonl") == ["x/1.jsonl"]


def test_a_name_with_wildcard_characters_is_found_as_it_is(tmp_path):
    write(tmp_path, "a[1].jsonl", "a1.jsonl")
    assert files(tmp_path / "a[1].jsonl") == ["a[1].jsonl"]
    assert read(tmp_path / "a[1].jsonl").texts == ["a"]


def test_links_are_followed_and_never_dropped_silently(tmp_path):
    write(tmp_path, "real/a.jsonl", "data/b.jsonl")
    (tmp_path / "data/link.jsonl").symlink_to(tmp_path / "real/a.jsonl")
    (tmp_path / "data/folder").symlink_to(tmp_path / "real")
    (tmp_path / "data/loop").symlink_to(tmp_path / "data")
    assert files(tmp_path / "data") == ["b.jsonl", "folder/a.jsonl", "link.jsonl"]
    assert files(tmp_path / "data/*.jsonl") == ["b.jsonl", "link.jsonl"]
    assert read(tmp_path / "data").texts == ["a"] * 3
    (tmp_path / "data/broken.jsonl").symlink_to(tmp_path / "nothing")
    for path in ("data", "data/*.jsonl"):
        with pytest.raises(InputError, match=r"data.*: cannot be read: .*broken\.jsonl"):
            files(tmp_path / path)


def test_a_relative_path_is_relative_to_the_working_folder(tmp_path, monkeypatch):
    write(tmp_path, "x/a.jsonl")
    monkeypatch.chdir(tmp_path)
    assert files("x/*.jsonl") == files("x/a.jsonl") == files("x") == ["a.jsonl"]


def test_a_file_url_is_a_local_path(tmp_path):
    write(tmp_path, "a.jsonl")
    assert plan_dataset(spec(f"file://{tmp_path}/a.jsonl"), 100).files[0].url == str(tmp_path / "a.jsonl")


@pytest.mark.parametrize("name", ["nothing.jsonl", "nothing", "*.jsonl", "no/*/x.parquet"])
def test_a_path_that_matches_nothing_is_named(tmp_path, name):
    with pytest.raises(InputError, match="dataset d: ") as caught:
        files(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


def test_files_of_no_known_form_are_named(tmp_path):
    write(tmp_path, "a.csv", "b.json", "c.jsonl.bz2")
    with pytest.raises(InputError, match=r"matches only a\.csv, b\.json, c\.jsonl\.bz2; files must end in \.jsonl, "):
        files(tmp_path)
    with pytest.raises(InputError, match=r"matches only a\.csv; files must end in"):
        files(tmp_path / "a.csv")


@pytest.mark.parametrize("path", ["", "data.py"])
def test_a_loading_script_without_data_says_what_to_do(tmp_path, path):
    write(tmp_path, "data.py", "README.md")
    with pytest.raises(InputError, match=r"holds a loading script \(data\.py\) and no data, and scripts are not run"):
        files(tmp_path / path)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved"
    datasets.Dataset.from_dict({"text": [f"t{i}" for i in range(10)]}).save_to_disk(path, num_shards=3)
    return path


def test_a_saved_dataset_has_the_files_that_its_state_lists(saved):
    (saved / "cache-0123.arrow").write_bytes(b"not even Arrow")
    assert files(saved) == [f"data-0000{i}-of-00003.arrow" for i in range(3)]
    got = read(saved)
    assert got.texts == [f"t{i}" for i in range(10)]
    assert got.positions == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2]


def test_a_saved_dataset_that_lacks_a_file_is_refused(saved):
    (saved / "data-00001-of-00003.arrow").unlink()
    with pytest.raises(InputError, match=r"data-00001-of-00003\.arrow: is missing"):
        files(saved)


def test_a_damaged_state_is_refused(saved):
    (saved / "state.json").write_text("{")
    with pytest.raises(InputError, match=r"state\.json: is not JSON"):
        files(saved)


def test_a_dataset_dict_needs_a_split_that_it_has(tmp_path):
    splits = {name: datasets.Dataset.from_dict({"text": [name]}) for name in ("train", "test")}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "dict")
    with pytest.raises(InputError, match="holds several splits, each a dataset; set split: to one of train, test"):
        files(tmp_path / "dict")
    with pytest.raises(InputError, match="has no split dev; set split: to one of train, test"):
        files(tmp_path / "dict", split="dev")
    assert files(tmp_path / "dict", split="test") == ["data-00000-of-00001.arrow"]
    assert read(tmp_path / "dict", split="test").texts == ["test"]


def test_a_split_that_chooses_nothing_is_refused(tmp_path, saved):
    write(tmp_path / "several", "train-0.jsonl", "test-0.jsonl")
    datasets.Dataset.from_dict({"text": ["a"]}).save_to_disk(tmp_path / "one")
    several = f"{tmp_path}/several"
    for path in (several, f"{several}/*.jsonl", f"{saved}", f"{tmp_path}/one", "installed:topics"):
        with pytest.raises(InputError) as caught:
            files(path, split="train")
        assert str(caught.value) == (
            f"dataset d: {path} has no splits, so split: train would change nothing; "
            "leave it out, or name the files of the split in path: by a glob, like train-*.parquet"
        )


def test_a_split_beside_a_single_file_does_no_harm(tmp_path):
    write(tmp_path, "x/a.jsonl")
    for path in ("x/a.jsonl", "x", "x/*.jsonl"):
        assert files(tmp_path / path, split="train") == ["a.jsonl"]


def test_an_escaped_folder_of_a_glob_is_a_fixed_one(tmp_path):
    write(tmp_path, "br[1]/x*y/a.jsonl", "br1/x*y/b.jsonl")
    assert files(f"{tmp_path}/br[[]1]/*/a.jsonl") == ["x*y/a.jsonl"]
    assert files(f"{tmp_path}/br[[]1]/x[*]y/*.jsonl") == ["a.jsonl"]
    assert files(f"{tmp_path}/br[[]1]/x[*]y/a.jsonl") == ["a.jsonl"]
    assert files(f"{tmp_path}/br[1]/x*y/*.jsonl") == ["br1/x*y/b.jsonl"]


def test_wildcards_in_the_name_of_the_working_folder_are_none(tmp_path, monkeypatch):
    write(tmp_path, "br[1]/data/a.jsonl", "br1/data/b.jsonl")
    monkeypatch.chdir(tmp_path / "br[1]")
    assert files("data/*.jsonl") == files("./data/*") == files("data/a.jsonl") == files("data") == ["a.jsonl"]


def test_what_a_run_wrote_below_a_folder_is_no_part_of_it(tmp_path):
    write(tmp_path, "a.jsonl", "runs/x/evidence/removed.jsonl", "commits/b.jsonl", "logs/c.jsonl", "list/d.jsonl")
    (tmp_path / "runs/x/run.json").write_text(json.dumps(dict.fromkeys(KEYS)))
    (tmp_path / "commits/run.json").write_text("not even JSON")
    (tmp_path / "logs/run.json").write_text('{"finished": true}')
    (tmp_path / "list/run.json").write_text('["versions"]')
    expected = ["a.jsonl", "commits/b.jsonl", "list/d.jsonl", "logs/c.jsonl"]
    assert files(tmp_path) == files(f"{tmp_path}/**/*.jsonl") == expected
    assert files(tmp_path / "runs/x") == ["evidence/removed.jsonl"]  # what is named is meant


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    write(tmp_path, os.fsdecode(b"caf\xe9.jsonl"), os.fsdecode(b"\xff.txt"))
    for path in (tmp_path, tmp_path / "*.jsonl"):
        with pytest.raises(InputError, match=r"'.*/caf\\udce9\.jsonl': the name is not UTF-8; rename it"):
            files(path)


@pytest.mark.parametrize("path", ["a::b/x.jsonl", "a::b", "a::b/*.jsonl"])
def test_colons_in_a_local_path_are_part_of_it(tmp_path, path):
    write(tmp_path, "a::b/x.jsonl")
    assert files(tmp_path / path) == ["x.jsonl"]
    assert read(tmp_path / path).texts == ["a"]


def test_a_saved_dataset_of_no_records_is_said_to_be_one(tmp_path):
    datasets.Dataset.from_dict({"text": []}).save_to_disk(tmp_path / "saved")
    with pytest.raises(InputError, match="saved is a saved dataset without a record; leave it out"):
        files(tmp_path / "saved")
