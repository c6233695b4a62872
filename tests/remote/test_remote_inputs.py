"""Inputs that lie on S3, undisturbed and through every fault: they are read as from a disk, or not at all."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
import yaml
import zstandard
from inputs import datasets, recipe
from s3faults import Faults
from serial import Serial, results

from zydaflow import patience
from zydaflow.errors import InputError, RunError
from zydaflow.recipe import DatasetSpec
from zydaflow.sources import plan_dataset, read_shard

TEXTS = [f"text {number} " + "word " * (number % 200) for number in range(500)]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
FORMS = ["a.jsonl", "b.jsonl.gz", "c.jsonl.zst", "d.parquet", "e.arrow"]
CARD = "corpus/README.md"


def write_forms(folder: Path) -> None:
    """The texts in a file of each form."""
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(LINES)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(LINES))
    (folder / "c.jsonl.zst").write_bytes(zstandard.compress(LINES))
    table = pa.table({"text": TEXTS})
    pa.parquet.write_table(table, folder / "d.parquet", row_group_size=120)
    with pa.ipc.new_stream(folder / "e.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=120)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of every form in the folder `inputs`, and beside it the run on them."""
    folder = tmp_path_factory.mktemp("local")
    datasets(folder / "inputs")
    write_forms(folder / "inputs" / "forms")
    with pytest.MonkeyPatch.context() as patch:
        Serial(patch).run(recipe(entries(str(folder / "inputs")), folder / "run", resources={"shard_bytes": "100kB"}))
    return folder


def entries(root: str) -> list[dict[str, Any]]:
    """The datasets below a folder or URL."""
    return [
        {"name": "a", "path": f"{root}/a", "id": "id", "license": "CC0-1.0"},
        {"name": "b", "path": f"{root}/b.jsonl.gz", "metadata": ["url"]},
        {"name": "c", "path": f"{root}/c.parquet", "text": "content", "license": {"column": "licence"}},
        {"name": "d", "path": f"{root}/forms/*"},
    ]


@pytest.fixture
def remote(local: Path, bucket: str, faults: Faults) -> str:
    """The same inputs on S3."""
    fs, path = fsspec.url_to_fs(bucket)
    fs.put(f"{local}/inputs/", f"{path}/inputs/", recursive=True)
    faults.clear()
    return f"{bucket}/inputs"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly any waits: a request is made once by botocore, up to twice by s3fs, and that three times by us."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fs = fsspec.get_filesystem_class("s3")
    monkeypatch.setattr(fs, "retries", 2)
    fs.clear_instance_cache()
    monkeypatch.setattr(patience, "WAITS", (0.0, 0.0))


def same(out: Path, local: Path) -> bool:
    """Whether the results are those of the local run, but for the card's line of where each dataset lies."""
    ours, theirs = results(out), results(local / "run")
    return ours | {CARD: ""} == theirs | {CARD: ""}


def small(remote: str, out: Path) -> dict[str, Any]:
    return recipe(entries(remote), out, resources={"shard_bytes": "100kB"})


def read(url: str, shard_bytes: int = 10**9) -> list[str]:
    """The texts of a dataset, shard by shard."""
    dataset = DatasetSpec(name="d", path=url)
    return [text for shard in plan_dataset(dataset, shard_bytes).shards for text in texts_of(shard, dataset)]


def texts_of(shard: Any, dataset: DatasetSpec) -> Iterator[str]:
    for batch in read_shard(shard, dataset, part_bytes=10**9, seed=1, batch_bytes=20_000):
        yield from batch.records["text"].to_pylist()


def test_a_run_on_s3_is_the_run_on_a_disk(local, remote, serial, tmp_path):
    assert same(serial.run(small(remote, tmp_path)), local)


def test_a_run_through_throttling_and_broken_connections(
    local, remote, serial, tmp_path, faults, impatient, monkeypatch
):
    monkeypatch.setattr(
        patience, "WAITS", (0.0,) * 40
    )  # a listing is several requests, each of which may have bad luck
    faults.refuse(503, "SlowDown", method="GET", probability=0.1)
    faults.refuse(503, "SlowDown", method="HEAD", probability=0.1)
    faults.refuse(429, "TooManyRequests", method="GET", probability=0.05)
    faults.refuse(500, "InternalError", method="GET", probability=0.05)
    faults.cut(after=900, path="/inputs/", probability=0.15)
    faults.shorten(after=900, path="/inputs/.*[a-z]$", probability=0.1)
    assert same(serial.run(small(remote, tmp_path)), local)
    assert min(faults.count(fault=fault) for fault in ("refuse", "cut", "shorten")) > 0


def command(folder: Path, of: dict[str, Any]) -> subprocess.CompletedProcess:
    """The recipe run as a person does, on a Ray of its own."""
    (folder / "recipe.yaml").write_text(yaml.safe_dump(of))
    run = [sys.executable, "-m", "zydaflow", "run", str(folder / "recipe.yaml"), "--workers", "2"]
    return subprocess.run(run, capture_output=True, text=True, timeout=180, check=False, env=os.environ)


def test_the_workers_of_a_ray_read_through_faults(local, remote, tmp_path, faults):
    faults.refuse(503, "SlowDown", method="GET", times=4, probability=0.3)
    faults.cut(after=900, path="/inputs/", probability=0.2)
    done = command(tmp_path, small(remote, tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert same(tmp_path / "run", local)
    assert faults.count(fault="cut") > 5


def test_a_forbidden_object_is_an_input_error_of_its_name(remote, tmp_path, faults):
    faults.refuse(403, "AccessDenied", path=r"part-1\.jsonl$")
    done = command(tmp_path, small(remote, tmp_path / "run"))
    assert done.returncode == 3
    assert f"{remote}/a/part-1.jsonl: cannot be read: AccessDenied by order" in done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_a_connection_that_breaks_in_an_object_gives_all_of_it(remote, faults, impatient, form):
    faults.cut(after=500, times=3)
    assert read(f"{remote}/forms/{form}") == TEXTS
    assert faults.count(path=form, fault="cut") == 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("after", [0, 500])
def test_an_answer_that_is_short_without_a_sign_gives_all_of_it(remote, faults, impatient, form, after):
    dataset = DatasetSpec(name="d", path=f"{remote}/forms/{form}")
    (shard,) = plan_dataset(dataset, 10**9).shards
    faults.shorten(after, times=2)
    assert list(texts_of(shard, dataset)) == TEXTS
    assert faults.count(fault="shorten") == 2


def test_what_has_come_is_not_fetched_again(remote, faults, impatient):
    dataset = DatasetSpec(name="d", path=f"{remote}/forms/a.jsonl")
    (shard,) = plan_dataset(dataset, 10**9).shards
    faults.clear()
    faults.shorten(50_000, times=1)
    assert list(texts_of(shard, dataset)) == TEXTS
    first, second = [request.range for request in faults.requests if request.method == "GET"]
    assert (first, second) == (f"bytes=0-{len(LINES) - 1}", f"bytes=50000-{len(LINES) - 1}")


@pytest.mark.parametrize("form", ["a.jsonl", "d.parquet", "e.arrow"])
@pytest.mark.parametrize("fault", ["refuse", "cut", "shorten"])
def test_what_does_not_pass_is_told_with_file_and_cause(remote, faults, impatient, form, fault):
    dataset = DatasetSpec(name="d", path=f"{remote}/forms/{form}")
    (shard,) = plan_dataset(dataset, 10**9).shards
    faults.clear()
    getattr(faults, fault)(method="GET")
    with pytest.raises(ConnectionError, match=f"^{remote}/forms/{form}: .*(SlowDown|not completed|nothing came)"):
        list(texts_of(shard, dataset))
    assert 3 <= faults.count("GET") <= 6


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_plan_of_a_busy_storage_can_be_made_later(remote, faults, impatient, status):
    faults.refuse(status, method="HEAD")  # whose answer has no body that s3fs could tell throttling by
    with pytest.raises(RunError, match=f"{remote}/a: OSError: .*run the same command again"):
        read(f"{remote}/a")
    assert faults.count("HEAD") == 3


def test_a_refusal_to_list_is_not_an_empty_folder(remote, faults, impatient):
    faults.refuse(503, method="HEAD", times=1)
    faults.refuse(503, method="GET", path="list-type", times=3)
    assert len(read(f"{remote}/a")) > 40
    faults.refuse(403, "AccessDenied", method="GET", path="list-type")
    with pytest.raises(InputError, match=f"{remote}/a: cannot be read: AccessDenied"):
        read(f"{remote}/a")


def test_what_is_missing_is_asked_for_once(remote, faults):
    with pytest.raises(InputError, match=f"there is no file or folder {remote}/nothing"):
        read(f"{remote}/nothing")
    with pytest.raises(InputError, match="there is no file or folder s3://no-such-bucket"):
        read("s3://no-such-bucket/a.jsonl")
    assert faults.count() <= 6


def test_a_folder_that_grew_is_listed_anew(remote):
    assert len(read(f"{remote}/forms/a*")) == len(TEXTS)
    other = fsspec.filesystem("s3", skip_instance_cache=True)
    other.pipe_file(f"{remote}/forms/a2.jsonl", LINES)
    assert len(read(f"{remote}/forms/a*")) == 2 * len(TEXTS)


@pytest.mark.parametrize("listed", [True, False], ids=["by the process that planned", "by another"])
def test_an_object_of_the_same_size_in_its_place_is_noticed(remote, listed):
    dataset = DatasetSpec(name="d", path=f"{remote}/forms/a.jsonl")
    (shard,) = plan_dataset(dataset, 10**9).shards
    other = fsspec.filesystem("s3", skip_instance_cache=True)
    other.pipe_file(shard.url, LINES.replace(b"word", b"WORD"))
    if not listed:
        fsspec.filesystem("s3").invalidate_cache()
    with pytest.raises(InputError, match=f"{shard.url}: was written again since the run was planned"):
        list(texts_of(shard, dataset))


def test_no_credentials_are_an_input_error(remote, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    fsspec.filesystem("s3").clear_instance_cache()
    with pytest.raises(InputError, match=f"{remote}/a: cannot be read: Unable to locate credentials"):
        read(f"{remote}/a")
