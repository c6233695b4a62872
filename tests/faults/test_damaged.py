"""One byte, the end, or the whole of every file that a unit commits, lost as soon as it is committed."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from conftest import every_stage
from inputs import datasets
from serial import Serial, results

from zydaflow import pipeline
from zydaflow.errors import RunError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.verify import verify
from zydaflow.recipe import load_recipe


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return datasets(tmp_path_factory.mktemp("damaged") / "inputs")


@pytest.fixture
def run(entries: list[dict], tmp_path: Path, serial: Serial, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """A run as `zydaflow run` does it, but for Ray."""
    monkeypatch.setattr(pipeline, "session", lambda address, workers: nullcontext())
    for name in ("on_every_node", "preflight"):
        monkeypatch.setattr(pipeline, name, lambda *_: None)
    recipe = load_recipe(every_stage(entries, tmp_path / "out"))
    return lambda: pipeline.run(recipe)


class Damage:
    """Damages one file of every kind, in the first unit that commits one. `done` has the kinds, as stage.name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]) -> None:
        self.done: dict[str, str] = {}
        commit = Store.commit

        def damaging(store: Store, record: Record) -> Record:
            made = commit(store, record)
            for name, file in record.artefacts.items():
                kind = f"{record.stage}.{name}"
                if kind not in self.done and file.bytes:
                    self.done[kind] = file.path
                    damage(store.path(file.path))
                    break  # the others with the next unit, or the next time
            return made

        monkeypatch.setattr(Store, "commit", damaging)


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
def test_every_kind_of_file_is_made_anew_or_found_by_verify(
    run: Callable[[], Path],
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
) -> None:
    with monkeypatch.context() as patch:
        damaged = Damage(patch, damage)
        out = run()
    assert len(damaged.done) > 25
    found = {problem.split(": ")[0] for problem in verify(out)}
    assert found <= set(damaged.done.values())
    for path in found:
        (out / path).unlink(missing_ok=True)
    run()
    assert results(out) == undisturbed
    assert verify(out) == []


def test_a_file_that_is_damaged_again_stops_the_run_and_names_the_nodes(
    run: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Store.commit

    def damaging(store: Store, record: Record) -> Record:
        made = commit(store, record)
        if record.stage == "match":
            _flip(store.path(record.artefacts["edges"].path))
        return made

    monkeypatch.setattr(Store, "commit", damaging)
    monkeypatch.setenv("ZYDAFLOW_NODE", "host abc")
    with pytest.raises(RunError, match=r"work/match/.* again, .* first on host abc, then on host abc"):
        run()
