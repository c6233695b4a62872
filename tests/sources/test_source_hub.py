"""Datasets of the Hub, against a stand-in of it on this machine."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import read, spec

from zydaflow import patience
from zydaflow.errors import InputError
from zydaflow.sources import hub, plan_dataset
from zydaflow.sources.hub import HubName, parse_hub_name

HERE = Path(__file__).parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CARD = """---
configs:
- config_name: default
  data_files:
  - {split: train, path: data/*train-*.jsonl}
  - {split: test, path: data/test.jsonl}
- {config_name: columns, data_files: columns/*.parquet}
- {config_name: table, data_files: table/*.csv}
---
"""
SPECS = [
    {"path": "hub:owner/data", "split": "train"},
    {"path": "hub:owner/data@v1", "split": "test"},
    {"path": "hub:owner/data:columns"},
    {"path": "hub:owner/lost"},
    {"path": "hub:owner/data"},
    {"path": "hub:owner/data", "split": "dev"},
    {"path": "hub:owner/data:nothing"},
    {"path": "hub:owner/data@nothing", "split": "train"},
    {"path": "hub:owner/nothing", "split": "train"},
    {"path": "hub:owner/data:table"},
    {"path": "hub:owner/data", "split": "train", "text": "body"},
]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    hub = tmp_path_factory.mktemp("hub")
    root, lost = hub / "owner/data", hub / "owner/lost"
    for folder in (root / "data", root / "columns", root / "table", lost):
        folder.mkdir(parents=True)
    (root / "README.md").write_text(CARD)
    (root / "data/busy-train-0.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    (root / "data/train-1.jsonl").write_text('{"text": "three"}\n')
    (root / "data/test.jsonl").write_text('{"text": "test"}\n')
    pq.write_table(pa.table({"text": ["x", "y"], "n": [1, 2]}), root / "columns/0.parquet")
    (root / "table/a.csv").write_text("text\na\n")
    (lost / "there.jsonl").write_text('{"text": "there"}\n')
    (lost / "gone.jsonl").write_text('{"text": "gone"}\n')
    server = subprocess.Popen(
        [sys.executable, HERE / "stand_in_hub.py", hub, "3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


def client(home, specs, *fetch, **environment):
    done = subprocess.run(
        [sys.executable, HERE / "hub_client.py", json.dumps(specs), *fetch],
        env={**os.environ, "HF_HOME": str(home), "PYTHONPATH": str(HERE.parent.parent), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def outcomes(endpoint, home):
    return dict(zip(map(str, SPECS), client(home, SPECS, "owner/data", HF_ENDPOINT=endpoint), strict=True))


def test_a_split_is_read_from_its_commit_though_the_hub_was_busy(outcomes, endpoint):
    with urllib.request.urlopen(f"{endpoint}/busy") as answer:
        assert answer.read() == b"0"  # it was so three times
    got = outcomes[str(SPECS[0])]
    assert got["texts"] == ["one", "two", "three"]
    root = f"hf://datasets/owner/data@{COMMIT}"
    names = ["data/busy-train-0.jsonl", "data/train-1.jsonl"]
    assert [(file["url"], file["file"]) for file in got["files"]] == [(f"{root}/{name}", name) for name in names]
    assert got["files"][0]["version"] == "32-oid-of-data/busy-train-0.jsonl"


def test_revisions_and_configurations(outcomes):
    assert outcomes[str(SPECS[1])]["texts"] == ["test"]
    assert outcomes[str(SPECS[2])]["texts"] == ["x", "y"]
    assert outcomes[str(SPECS[2])]["plan"]["columns"] == {"text": "string", "n": "int64"}


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (3, "gone.jsonl: cannot be read"),
        (4, "has several splits; set split: to one of train, test"),
        (5, "has no split dev; set split: to one of train, test"),
        (6, "BuilderConfig 'nothing' not found. Available: ['default', 'columns', 'table']"),
        (7, "Revision 'nothing' doesn't exist"),
        (8, "hub:owner/nothing: Dataset 'owner/nothing' doesn't exist on the Hub or cannot be accessed."),
        (9, "table/a.csv in split train; files must end in .jsonl"),
        (10, "has no column 'body'"),
    ],
)
def test_what_is_wrong_is_said(outcomes, number, message):
    error = outcomes[str(SPECS[number])]["error"]
    assert message in error
    assert "cannot be reached" not in error


def test_offline_the_local_snapshot_is_read(outcomes, home):
    got, unknown = client(home, [SPECS[0], SPECS[8]], HF_HUB_OFFLINE="1")
    assert "error" not in got, got
    assert got["texts"] == ["one", "two", "three"]
    assert [file["file"] for file in got["files"]] == ["data/busy-train-0.jsonl", "data/train-1.jsonl"]
    assert COMMIT in got["files"][0]["url"]
    for words in ("hub:owner/nothing", "owner/nothing is not in the local cache", "HF_HUB_OFFLINE=1", "HF_HOME"):
        assert words in unknown["error"]


def test_a_hub_out_of_reach_is_said_with_what_to_set(home, tmp_path):
    (got,) = client(tmp_path, SPECS[:1], HF_ENDPOINT="http://127.0.0.1:9")
    for word in ("hub:owner/data", "cannot be reached", "HF_HOME", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_TOKEN"):
        assert word in got["error"]


def test_the_name_of_a_dataset():
    assert parse_hub_name("hub:o/n") == HubName("o/n", None, None)
    assert parse_hub_name("hub:o/n:en.x@refs/pr/1") == HubName("o/n", "en.x", "refs/pr/1")
    assert parse_hub_name("hub:o/n@v1") == HubName("o/n", None, "v1")
    for wrong in ("hub:n", "hub:o/n/x", "hub:", "hub:o/n:"):
        with pytest.raises(InputError, match="OWNER/NAME"):
            parse_hub_name(wrong)


class BusyError(Exception):
    status = 429


def test_a_busy_hub_is_asked_again_and_not_for_ever(monkeypatch):
    monkeypatch.setattr(patience, "WAITS", (0.0, 0.0, 0.0))
    answers = [BusyError(), BusyError(), BusyError(), ("root", {"train": []})]

    def ask(name):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise FileNotFoundError("nothing to be seen of the cause") from answer
        return answer

    monkeypatch.setattr(hub, "_data_files", ask)
    with pytest.raises(InputError, match="has no file in split train"):
        plan_dataset(spec("hub:o/n"), 100)
    assert answers == []
    answers[:] = [BusyError() for _ in range(9)]
    with pytest.raises(InputError, match="cannot be reached"):
        read("hub:o/n")
    assert len(answers) == 5
