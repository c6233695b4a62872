"""Kernels are compiled when there is no mark that they are, for these sources and this machine."""

from pathlib import Path

import llvmlite.binding
import pytest

from zydaflow.stages import compiled, warmup


def test_once_for_every_kind_of_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[int] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(warmup, "compile_kernels", lambda: made.append(1))
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 1
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_name", lambda: "another")
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 2


def test_every_time_where_a_mark_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[int] = []
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(warmup, "compile_kernels", lambda: made.append(1))
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 2
