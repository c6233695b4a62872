"""Memory: of a document that is far larger than the others, and where Ray takes it to be at its end."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from oneray import one_ray
from ray._common.utils import get_system_memory
from ray._private.utils import get_used_memory
from serial import results
from small import texts

import zydaflow

HOSTILE = Path(__file__).parent.parent / "support" / "hostile"
PACKAGE = HOSTILE.parent.parent.parent
LARGE = 300_000_000  # bytes of the large document
ROOM = 4_000_000_000  # bytes that are left until Ray's monitor kills: whatever else runs here takes less
PATIENCE = 60  # seconds, after which a process that waits to be killed ends by itself


def _large() -> str:
    """Words in random order: hardly a shingle comes twice."""
    words = [f"{word} " for word in sorted({word for text in texts(200, seed=9) for word in text.split()})]
    numbers = np.random.default_rng(1).integers(0, len(words), LARGE // 6)
    text = pa.array(words, pa.large_string()).take(pa.array(numbers)).buffers()[2]
    return text.slice(0, LARGE).to_pybytes().decode()


def _jsonl(path: Path, documents: list[str]) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in documents)


def _parquet(path: Path, documents: list[str]) -> None:
    pq.write_table(pa.table({"text": pa.array(documents, pa.large_string())}), path, use_dictionary=False)


def _peaks(running: subprocess.Popen) -> dict[int, int]:
    """The peak resident bytes of each worker of the run's Ray, when the run has ended."""
    peaks = {}
    while running.poll() is None:
        for process in psutil.Process(running.pid).children(recursive=True):
            try:
                lines = dict(
                    line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
                )
            except OSError:  # it has just ended
                continue
            if lines["Name"].strip().startswith("ray::") and "VmHWM" in lines:
                peaks[process.pid] = int(lines["VmHWM"].split()[0]) * 1024
        try:
            running.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    return peaks


@pytest.mark.slow
@pytest.mark.parametrize("write", [_jsonl, pytest.param(_parquet, marks=pytest.mark.soak)])  # the first takes more
def test_a_large_document_among_small_ones_is_worked_on_within_the_memory_of_a_task(
    tmp_path: Path, write: Callable[[Path, list[str]], None]
) -> None:
    documents = texts(200, seed=5)
    path = tmp_path / ("in.parquet" if write is _parquet else "in.jsonl")
    write(path, [*documents[:100], _large(), *documents[100:]])
    recipe = {
        "name": "large",
        "datasets": [{"name": "a", "path": str(path)}],
        "filters": [{"signal": "n_words", "min": 5}, {"signal": "zyda.pii_count", "max": LARGE}],
        "dedup": {"shingle": {"size": 3}, "threshold": 0.5, "verify": "exact"},
        "tokenizer": {"train": {"vocab_size": 4000}},
        "output": {"path": str(tmp_path / "run")},
        "resources": {"memory_per_task": "2GB"},
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    command = [sys.executable, "-m", "zydaflow", "run", str(tmp_path / "recipe.yaml"), "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])}
    peaks = _peaks(running := subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
    assert running.returncode == 0
    found = zydaflow.open_run(tmp_path / "run").statistics["datasets"]["a"]["outcomes"]["written"]
    assert (found["documents"], found["bytes"]) == (201, LARGE + sum(map(len, documents)))
    assert LARGE < max(peaks.values()) < 2_100_000_000  # 1.94 to 2.04 were seen


def test_a_worker_that_ray_kills_for_memory_leads_to_smaller_batches_and_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if get_system_memory() - get_used_memory() < 3 * ROOM:
        pytest.skip(f"less than {3 * ROOM / 1e9:g} GB of memory are free")
    path = tmp_path / "in.jsonl"
    _jsonl(path, [f"<growing> {k} {text}" for k, text in enumerate(texts(50, seed=4) * 140)])
    recipe = {
        "name": "growing",
        "datasets": [{"name": "a", "path": str(path)}],
        "filters": [{"signal": "test.hostile", "max": 1}],
        "output": {"path": str(tmp_path / "run")},
        "resources": {"memory_per_task": "500MB", "document_seconds": PATIENCE},
    }
    calm = tmp_path / "calm"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HOSTILE), str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("HOSTILE_CALM", str(calm))
    monkeypatch.setenv("HOSTILE_GROWTH", str(2 * ROOM))
    monkeypatch.setenv("RAY_memory_usage_threshold", str((get_used_memory() + ROOM) / get_system_memory()))
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "50")
    with one_ray() as ray:
        started = time.monotonic()
        (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
        done = ray.run(tmp_path / "recipe.yaml")
        assert done.returncode == 0, done.stderr
        assert "1 retried" in done.stderr
        assert time.monotonic() - started < PATIENCE  # so it was killed
        calm.touch()
        (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe | {"output": {"path": str(tmp_path / "calm-run")}}))
        done = ray.run(tmp_path / "recipe.yaml")
        assert "retried" not in done.stderr
    assert results(tmp_path / "calm-run") == results(tmp_path / "run")
