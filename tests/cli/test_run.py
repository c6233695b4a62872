"""The command line as a person uses it: real processes, real Ray, a real kill."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from inputs import datasets, recipe
from serial import results

ZYDAFLOW = [sys.executable, "-m", "zydaflow"]


def zydaflow(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*ZYDAFLOW, *arguments], capture_output=True, text=True, timeout=180, check=False, env=os.environ | environment
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe file, and the finished run that two workers made of it."""
    folder = tmp_path_factory.mktemp("cli")
    text = yaml.safe_dump(recipe(datasets(folder / "inputs"), folder / "out", resources={"shard_bytes": 2000}))
    (folder / "recipe.yaml").write_text(text)
    done = zydaflow("run", str(folder / "recipe.yaml"), "--workers", "2", PYTHONHASHSEED="0")
    assert done.returncode == 0, done.stderr
    assert "written" in done.stdout
    lines = [line for line in done.stderr.splitlines() if line]
    assert next(line.split()[0] for line in lines if " units" in line) == "measure"
    assert "\r" not in done.stderr  # a file, not a terminal: a line per stage
    return folder


def test_help_is_quick() -> None:
    started = time.perf_counter()
    assert "run" in zydaflow("--help").stdout
    assert time.perf_counter() - started < 0.5


def test_a_finished_run_answers_at_once_and_without_ray(written: Path) -> None:
    started = time.perf_counter()
    done = zydaflow("run", str(written / "recipe.yaml"), RAY_ADDRESS="127.0.0.1:1")
    assert time.perf_counter() - started < 2
    assert done.returncode == 0
    assert "written" in done.stdout


def test_killed_in_the_middle_and_resumed_by_one_worker(written: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*ZYDAFLOW, "run", str(written / "recipe.yaml"), "--out", str(out)]
    running = subprocess.Popen([*command, "--workers", "2"], stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(out.glob("commits/measure/*"))) < 5:  # well inside the first stage
        assert running.poll() is None
        assert time.monotonic() < deadline
        os.sched_yield()
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert len(list(out.glob("commits/measure/*"))) < len(list(written.glob("out/commits/measure/*")))
    resumed = zydaflow("run", str(written / "recipe.yaml"), "--out", str(out), "--workers", "1", PYTHONHASHSEED="1")
    assert resumed.returncode == 0, resumed.stderr
    assert results(out) == results(written / "out")
    verified = zydaflow("verify", str(out))
    assert (verified.returncode, verified.stderr) == (0, "")


def test_a_second_run_on_the_folder_is_refused_while_the_first_lives(written: Path, tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("someone else's")
    with (out / ".lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = zydaflow("run", str(written / "recipe.yaml"), "--out", str(out))
    assert done.returncode == 4
    assert "another run owns this folder" in done.stderr
    assert (out / "notes.txt").read_text() == "someone else's"


def test_the_order_of_exit_codes(written: Path, tmp_path: Path) -> None:
    wrong = zydaflow("run", str(written / "recipe.yaml"), "--set", "dedup.treshold=0.3")
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr
    missing = zydaflow(
        "run", str(written / "recipe.yaml"), "--set", "datasets.a.path=/nowhere/at-all", "--out", str(tmp_path)
    )
    assert missing.returncode == 3
    assert "/nowhere/at-all" in missing.stderr
    assert zydaflow("verify", str(tmp_path)).returncode == 3
    assert zydaflow("nonsense").returncode == 2


def test_verify_says_what_is_wrong(written: Path, tmp_path: Path) -> None:
    import shutil

    copy = shutil.copytree(written / "out", tmp_path / "copy")
    shard = sorted(copy.glob("corpus/a/*.arrow"))[0]
    shard.write_bytes(shard.read_bytes()[:-8])  # a stream cut at its end reads back without an error
    done = zydaflow("verify", str(copy))
    assert done.returncode == 1
    assert f"corpus/a/{shard.name}: has" in done.stdout


def test_a_reader_that_has_seen_enough_stops_nothing(written: Path, tmp_path: Path) -> None:
    command = (
        f"{' '.join(ZYDAFLOW)} run {written}/recipe.yaml --out {tmp_path}/out 2>&1 | head -1; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120, check=False)
    assert done.returncode == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["finished"] is True
    assert results(tmp_path / "out") == results(written / "out")


def test_an_output_that_cannot_be_one(written: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("mine")
    done = zydaflow("run", str(written / "recipe.yaml"), "--out", str(tmp_path))
    assert done.returncode == 2
    assert "its recipe.yaml would be replaced" in done.stderr
    assert (tmp_path / "recipe.yaml").read_text() == "mine"
    below = zydaflow("run", str(written / "recipe.yaml"), "--out", str(tmp_path / "recipe.yaml" / "x"))
    assert below.returncode == 2
    assert "no folder that can be written to" in below.stderr


def test_stats_as_table_and_as_json(written: Path) -> None:
    table = zydaflow("stats", str(written / "out")).stdout
    assert "removed across" in table
    assert "n_words.min" in table
    statistics = json.loads(zydaflow("stats", str(written / "out"), "--json").stdout)
    assert statistics["finished"] is True


def test_the_status_of_a_finished_run(written: Path) -> None:
    first, *lines = zydaflow("status", str(written / "out")).stdout.splitlines()
    assert first == f"{written / 'out'}: finished"
    stages = [line.split()[:2] for line in lines[1:]]
    assert [stage for stage, _ in stages][:2] == ["measure", "bands"]
    assert {state for _, state in stages} == {"done"}


def test_stopping_after_a_stage_leaves_the_rest_pending(written: Path, tmp_path: Path) -> None:
    done = zydaflow("run", str(written / "recipe.yaml"), "--out", str(tmp_path / "out"), "--until", "measure")
    assert done.returncode == 0, done.stderr
    assert "pending" in done.stdout
    assert not (tmp_path / "out" / "corpus" / "a").exists()
