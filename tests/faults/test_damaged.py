"""One byte, the end, or the whole of a file of every kind, lost: as soon as it is committed, or when all is done."""

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from conftest import every_stage
from damage import cut, flip
from inputs import datasets
from serial import Serial, results

from zydaflow import pipeline
from zydaflow.errors import InputError, RecipeError, RunError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.verify import verify
from zydaflow.recipe import load_recipe


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


DAMAGES = pytest.mark.parametrize("damage", [flip, cut, Path.unlink])


def _kinds(store: Store) -> dict[str, str]:
    """One file of every kind that records name and that holds something, by stage.name."""
    return {
        f"{record.stage}.{name}": file.path
        for record in store.records()
        for name, file in record.artefacts.items()
        if file.bytes
    }


@DAMAGES
def test_every_kind_of_file_is_made_anew_or_found_by_verify(
    run: Callable[[], Path],
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
) -> None:
    with monkeypatch.context() as patch:
        damaged, found = Damage(patch, damage), {""}
        while found:
            out = run()
            problems = [problem.split(": ")[0] for problem in verify(out)]
            found = {path for path in problems if not os.path.isabs(path)}  # of statistics it tells more than once
            assert found <= set(damaged.done.values())
            for path in found:
                (out / path).unlink(missing_ok=True)
    assert damaged.done.keys() == {*_kinds(Store(out)), "bands.keys"}
    assert len(damaged.done) > 30
    assert results(out) == undisturbed
    assert verify(out) == []


@DAMAGES
def test_every_kind_of_record_is_made_anew(
    run: Callable[[], Path],
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
) -> None:
    """A record that is none leaves work undone: the stage that misses it fails, and the next run does the work."""
    commit, done = Store.commit, set[str]()

    def damaging(store: Store, record: Record) -> Record:
        made = commit(store, record)
        if record.stage not in done:
            done.add(record.stage)
            damage(store.path(record.name))
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", damaging)
        for _ in range(20):
            with suppress(AssertionError, RunError, FileNotFoundError):
                out = run()
                break
    assert done >= {record.stage for record in Store(out).records()}
    if damage is not Path.unlink:  # of the last record, that of `account`, which only `verify` sees then
        (out / "statistics.json").unlink()
    run()
    assert results(out) == undisturbed
    assert verify(out) == []


@DAMAGES
def test_verify_finds_every_kind_of_file_and_record_and_the_next_run_mends_them(
    run: Callable[[], Path], undisturbed: dict[str, str], damage: Callable[[Path], None]
) -> None:
    out = run()
    store = Store(out)
    files = sorted({out / path for path in _kinds(store).values()})
    records = [store.path(record.name) for record in {record.stage: record for record in store.records()}.values()]
    for path in files + records:
        whole = path.read_bytes()
        damage(path)
        problems = verify(out)
        if path in files and not (damage == Path.unlink and path.is_relative_to(out / "work")):  # as after --clean
            assert any(problem.startswith(f"{path.relative_to(out)}: ") for problem in problems), path
        assert problems or path in files, path
        path.write_bytes(whole)
    assert verify(out) == []
    for path in files:
        path.unlink()
    for path in records:
        damage(path)
    with suppress(AssertionError, RunError):
        run()
    run()
    assert results(out) == undisturbed
    assert verify(out) == []


@pytest.mark.parametrize("name", ["recipe.yaml", "progress.json", "statistics.json"])
@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_a_file_at_the_top_that_is_torn_in_an_unfinished_run_is_written_anew(
    run: Callable[[], Path], undisturbed: dict[str, str], name: str, damage: Callable[[Path], None]
) -> None:
    out = run()
    (out / "report" / "index.html").unlink()
    damage(out / name)
    assert results(run()) == undisturbed
    assert verify(out) == []


@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_without_a_whole_run_json_nothing_in_the_folder_is_touched(
    run: Callable[[], Path], damage: Callable[[Path], None]
) -> None:
    out = run()
    damage(out / "run.json")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(RecipeError, match="no folder of a run"):
        run()
    with pytest.raises(InputError, match=r"no run\.json that can be read"):
        verify(out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_file_that_is_damaged_again_stops_the_run_and_names_the_nodes(
    run: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Store.commit

    def damaging(store: Store, record: Record) -> Record:
        made = commit(store, record)
        if record.stage == "match":
            flip(store.path(record.artefacts["edges"].path))
        return made

    monkeypatch.setattr(Store, "commit", damaging)
    monkeypatch.setenv("ZYDAFLOW_NODE", "host abc")
    with pytest.raises(RunError, match=r"work/match/.* again, .* first on host abc, then on host abc"):
        run()
