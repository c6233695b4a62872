"""Adding datasets, and cleaning, on the command line: real processes, real Ray."""

import shutil
from pathlib import Path

import yaml
from inputs import datasets, recipe
from serial import Serial, results
from test_run import zydaflow


def test_a_dataset_is_added_and_the_work_cleaned_away(tmp_path: Path, serial: Serial) -> None:
    entries, out = datasets(tmp_path / "inputs"), tmp_path / "out"
    for name, chosen in (("old", entries[1:]), ("all", entries)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(recipe(chosen, tmp_path / name, tokenizer=None)))
    assert zydaflow("run", str(tmp_path / "all.yaml"), "--clean").returncode == 0
    assert not (tmp_path / "all" / "work").exists()
    serial.run(recipe(entries[1:], out, tokenizer=None))
    shutil.copytree(out, tmp_path / "copy")
    for entry in entries[1:]:
        Path(entry["path"]).unlink()

    done = zydaflow("extend", str(out), str(tmp_path / "all.yaml"), "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert results(out) == results(tmp_path / "all")
    again = zydaflow("extend", str(out), str(tmp_path / "all.yaml"), "--clean", RAY_ADDRESS="127.0.0.1:1")
    assert (again.returncode, (out / "work").exists()) == (0, False), again.stderr
    assert "nothing is left to do" in again.stderr
    assert "removed work/" in again.stderr
    assert zydaflow("verify", str(out)).returncode == 0
    assert "removed across" in zydaflow("stats", str(out)).stdout

    once_more = zydaflow("extend", str(out), str(tmp_path / "all.yaml"), "--clean", RAY_ADDRESS="127.0.0.1:1")
    assert (once_more.returncode, "removed work/: 0 B" in once_more.stderr) == (0, True), once_more.stderr
    dropped = zydaflow("extend", str(out), str(tmp_path / "old.yaml"))
    assert (dropped.returncode, "--drop a" in dropped.stderr) == (2, True), dropped.stderr

    gone = zydaflow("extend", str(out), str(tmp_path / "all.yaml"), "--set", "dedup.threshold=0.9")
    assert gone.returncode == 3
    assert "dataset b" in gone.stderr
    assert "lacks its list of files, signals, kept text, signatures" in gone.stderr
    other = zydaflow("extend", str(tmp_path / "copy"), str(tmp_path / "all.yaml"), "--set", "datasets.b.text=body")
    assert (other.returncode, "other than in" in other.stderr) == (2, True)
    assert zydaflow("extend", str(tmp_path / "none"), str(tmp_path / "all.yaml")).returncode == 3
    assert zydaflow("run", str(tmp_path / "all.yaml"), "--until", "match", "--clean").returncode == 2
