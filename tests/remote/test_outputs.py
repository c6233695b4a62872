"""Whole runs whose work and output are on S3: the bytes of a run on a disk, whatever server and network do."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import s3fs
import yaml
from inputs import datasets, recipe
from s3faults import Faults
from serial import Serial, results

from zydaflow import cli, patience
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.provenance.run import open_run
from zydaflow.provenance.verify import verify
from zydaflow.storage import files_below, path_of

DEDUP = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4, "verify": "exact", "exact": ["text"]}
OPTIONS: dict[str, Any] = {"dedup": DEDUP, "resources": {"shard_bytes": 8000, "memory_per_task": "200MB"}}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "WAITS", (0.01,) * 5)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)  # whose waits are longer
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return datasets(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def on_a_disk(entries: list[dict], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        return results(Serial(patch).run(recipe(entries, tmp_path_factory.mktemp("disk") / "out", **OPTIONS)))


def test_through_a_server_that_refuses_and_a_network_that_breaks(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], on_a_disk: dict[str, str], bucket: str, faults: Faults
) -> None:
    faults.refuse(503, "SlowDown", probability=0.03)
    faults.refuse(429, "TooManyRequests", probability=0.01)
    faults.cut(100, path="/(work|commits|corpus)/", probability=0.05)
    faults.lose(path="/(work|commits|corpus)/", probability=0.03)
    out = Serial(monkeypatch).run(recipe(entries, f"{bucket}/out", **OPTIONS))
    for fault in ("refuse", "cut", "lose"):
        assert faults.count(fault=fault) > 3
    faults.clear()
    assert results(out) == on_a_disk
    assert verify(out) == []


def test_a_file_appears_whole_or_not_at_all(bucket: str, faults: Faults) -> None:
    """There is no name under which half of it could be seen."""
    store = Store(f"{bucket}/out")
    with store.create("work") as out:
        out.write(b"x" * 20_000_000)
        assert files_below(store.root) == {}
        file = out.finish("work/a", 1)
    assert files_below(store.root) == {"work/a": 20_000_000}
    with store.create("work") as out:
        out.write(b"y")
    assert files_below(store.root) == {"work/a": 20_000_000}
    faults.cut(1_000_000, path="work/a", times=3)
    assert store.map(file).to_pybytes() == b"x" * 20_000_000
    store.path("work/a").write_bytes(b"x" * 19_999_999 + b"y")
    with pytest.raises(DamagedArtefact, match="differs from its checksum"):
        store.map(file)


def test_a_server_that_never_recovers(bucket: str, faults: Faults, capsys: pytest.CaptureFixture[str]) -> None:
    faults.refuse(503, "SlowDown", path="/out/")
    assert cli.main(["status", f"{bucket}/out"]) == 4
    told = capsys.readouterr().err
    assert f"{bucket}/out" in told
    assert "Traceback" not in told


def _command(folder: Path, entries: list[dict], out: str) -> list[str]:
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe(entries, out, **OPTIONS)))
    return [sys.executable, "-m", "zydaflow", "run", str(file), "--workers", "1"]


def test_a_driver_killed_in_mid_run_is_gone_on_with(
    tmp_path: Path, entries: list[dict], on_a_disk: dict[str, str], bucket: str, faults: Faults
) -> None:
    out = f"{bucket}/out"
    command = _command(tmp_path, entries, out)
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while not any(request.method == "PUT" and "/commits/keys/" in request.path for request in list(faults.requests)):
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert path_of(f"{out}/.lock").exists()
    subprocess.run(command, check=True, capture_output=True)
    assert results(path_of(out)) == on_a_disk
    assert verify(out) == []
    assert not path_of(f"{out}/.lock").exists()
    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "this run is finished" in again.stderr


def test_commands_on_a_run_that_is_there(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"{bucket}/out"
    options = OPTIONS | {"resources": {"memory_per_task": "200MB"}}
    Serial(monkeypatch).run(recipe(entries, out, **options))
    assert cli.main(["stats", out]) == 0
    assert cli.main(["dedup", "whatif", out, "--threshold", "0.8"]) == 0
    assert cli.main(["dedup", "index", out, "-o", f"{bucket}/index"]) == 0
    assert f"{bucket}/index: 80 documents" in capsys.readouterr().out
    run = open_run(out)
    assert len(run.signals("a")) == 42
    assert len(run.corpus("a")) == 40
    dedup = {**DEDUP, "verify": "signature", "against": [f"{bucket}/index"]}
    held = Serial(monkeypatch).run(recipe(entries, f"{bucket}/held", dedup=dedup))
    assert verify(held) == []
    path_of(f"{out}/evidence/removed.parquet").unlink()
    assert cli.main(["verify", out]) == 1
    assert "evidence/removed.parquet: is missing" in capsys.readouterr().out


def test_an_output_that_cannot_be_written_to(
    tmp_path: Path, entries: list[dict], bucket: str, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    faults.refuse(403, "AccessDenied", method="PUT")
    command = _command(tmp_path, entries, f"{bucket}/out")
    assert cli.main(command[3:]) == 2
    assert f"output.path: {bucket}/out cannot be written to" in capsys.readouterr().err
    command = _command(tmp_path, entries, "s3://no-such-bucket-here/out")
    assert cli.main(command[3:]) == 2
