"""Kernels are compiled when there is no mark that they are, for these sources and this machine."""

from pathlib import Path

import llvmlite.binding
import pytest

from zydaflow.recipe import load_recipe
from zydaflow.stages import compiled, warmup


def test_once_for_every_kind_of_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(warmup, "compile_kernels", lambda names, steps: made.append((names, steps)))
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 1
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_name", lambda: "another")
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 2
    compiled.compile_once(("n_words",), ("zyda",))
    compiled.compile_once(("n_words",), ("zyda",))
    assert made[2:] == [(("n_words",), ("zyda",))]


def test_what_a_recipe_needs() -> None:
    path = {"name": "a", "path": "a.jsonl"}
    spec = load_recipe({"name": "r", "datasets": [path, path | {"name": "b", "filters": []}], "filters": ["c4"]})
    names, steps = compiled.asked_for(spec)
    assert steps == ("c4",)
    assert set(names) >= {"c4.sentence_count", "c4.bad_word_count"}
    assert not [name for name in names if not name.startswith("c4.")]


def test_every_time_where_a_mark_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple] = []
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(warmup, "compile_kernels", lambda names, steps: made.append((names, steps)))
    for _ in range(2):
        compiled.compile_once()
    assert len(made) == 2
