"""Removals in several partitions: read where they lie, and together what the evidence says."""

import mmap
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from inputs import recipe
from serial import Serial, results

from zydaflow.provenance.commits import Store
from zydaflow.stages import cluster, decide
from zydaflow.stages.finished import finished


def test_no_reader_holds_all_removals(
    serial: Serial, entries: list[dict], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serial.run(recipe(entries, tmp_path / "one"))
    monkeypatch.setattr(cluster, "WORTH_SHARING", 4)
    monkeypatch.setattr(decide, "CHUNK", 2)
    serial.run(recipe(entries, out))
    assert len(serial.done["decide"]) > 3
    assert results(out) == results(tmp_path / "one")
    _, made, manifest = finished(out, ["signatures"])
    decisions = decide.Decisions(Store(out), made, manifest)
    files = [rows.numbers for rows in decisions._removed]
    assert all(not numbers.flags.owndata and not numbers.flags.writeable for numbers in files)  # memory-mapped
    found = decisions.removed(0, manifest.documents)
    assert len(found) == len(pq.read_table(out / "evidence" / "removed.parquet"))
    halves = [decisions.removed(0, 40), decisions.removed(40, manifest.documents)]
    assert sorted(found.tolist()) == sorted(np.concatenate(halves).tolist())


@pytest.mark.parametrize("verify", ["signature", "exact"])
def test_what_does_not_fit_in_memory_lies_in_files(
    serial: Serial, entries: list[dict], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: str
) -> None:
    spec = recipe(entries, out)["dedup"] | {"verify": verify, "exact": ["text"], "keep": ["length"]}
    mapped = []
    monkeypatch.setattr("mmap.mmap", lambda *args, real=mmap.mmap: mapped.append(args[1]) or real(*args))
    serial.run(recipe(entries, tmp_path / "roomy", dedup=spec))
    assert not mapped
    serial.run(recipe(entries, out, dedup=spec, resources={"shard_bytes": "1MB", "memory_per_task": "1kB"}))
    assert len(mapped) > 3
    assert results(out) == results(tmp_path / "roomy")
