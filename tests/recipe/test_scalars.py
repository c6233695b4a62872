from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.recipe.scalars import absolute_path, format_size, parse_size, path_or_hub_name


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MB", 512_000_000),
        ("64MiB", 67_108_864),
        ("2GB", 2_000_000_000),
        ("1GiB", 1_073_741_824),
        ("3kB", 3_000),
        ("3KiB", 3_072),
        ("1.5 gb", 1_500_000_000),
        ("17", 17),
        ("17B", 17),
        (17, 17),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "12XB", "-1MB", "1e3", "1 2MB", "1,5MB"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="is not a size; write bytes, or a number with one of GB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(512_000_000, "512MB"), (67_108_864, "64MiB"), (2_000_000_000, "2GB"), (1_234_567, 1_234_567), (0, 0)],
)
def test_sizes_are_written_with_the_largest_unit_that_divides_them(size, text):
    assert format_size(size) == text


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.integers(0, 10**15))
def test_a_size_survives_writing_and_reading(size):
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(
    "path", ["hub:allenai/c4:en@abc", "installed:licences", "s3://bucket/a/*.parquet", "file:///tmp/a.jsonl"]
)
def test_what_is_no_local_path_is_left_alone(path):
    assert absolute_path(path) == path


def test_local_paths_become_absolute_and_globs_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("DATA", "/data")
    here = str(Path.cwd())
    assert absolute_path("data/*.jsonl.zst") == f"{here}/data/*.jsonl.zst"
    assert absolute_path("/data/x") == "/data/x"
    assert absolute_path("~/x") == "/home/someone/x"
    assert absolute_path("$DATA/x") == f"{here}/$DATA/x"


def test_wildcards_in_the_folder_before_a_glob_are_escaped(tmp_path, monkeypatch):
    here = tmp_path / "br[1]"
    (here / "data").mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    for path in ("data/*.jsonl", "./data/*.jsonl", "~/data/*.jsonl", "x/../data/*.jsonl"):
        assert absolute_path(path) == f"{tmp_path}/br[[]1]/data/*.jsonl"
    assert absolute_path("../*.jsonl") == f"{tmp_path}/*.jsonl"
    assert absolute_path(f"{here}/*.jsonl") == f"{here}/*.jsonl"
    assert absolute_path("data/a.jsonl") == absolute_path("~/data/a.jsonl") == f"{here}/data/a.jsonl"
    (here / "a[1].jsonl").touch()
    assert absolute_path("a[1].jsonl") == f"{here}/a[1].jsonl"


def test_a_tokenizer_is_a_hub_name_unless_it_looks_like_a_path_or_exists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = str(Path.cwd())
    assert path_or_hub_name("EleutherAI/gpt-neox-20b") == "EleutherAI/gpt-neox-20b"
    assert path_or_hub_name("gpt2") == "gpt2"
    assert path_or_hub_name("models/tokenizer.json") == f"{here}/models/tokenizer.json"
    assert path_or_hub_name("./gpt2") == f"{here}/gpt2"
    (tmp_path / "gpt2").mkdir()
    assert path_or_hub_name("gpt2") == f"{here}/gpt2"
