"""Audit: a wrong result that is as its commit record says is found, and named; a right one is not."""

import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from inputs import datasets, recipe
from serial import Serial

from zydaflow import audit as audits
from zydaflow.audit import audit, render
from zydaflow.cli import main
from zydaflow.errors import InputError
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.verify import verify
from zydaflow.stages.clean import clean
from zydaflow.stages.recompute import Check


def _run_here(function: Callable, calls: list[tuple], avoided: list[str], memory: int) -> Iterator[tuple[int, object]]:
    yield from ((number, function(*call)) for number, call in enumerate(calls))


EXACT = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4, "verify": "exact", "exact": ["text"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the finished run of a recipe that needs all stages."""
    folder = tmp_path_factory.mktemp("audit")
    with pytest.MonkeyPatch.context() as patch:
        Serial(patch).run(recipe(datasets(folder / "inputs"), folder / "out", dedup=EXACT))
    return folder


@pytest.fixture
def run(made: Path, serial: Serial, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the run; audits of it need no Ray."""
    monkeypatch.setattr(audits, "session", lambda address, workers: nullcontext())
    monkeypatch.setattr(audits, "on_every_node", lambda *_: None)
    monkeypatch.setattr(audits, "run_units", serial.run_units)
    monkeypatch.setattr(audits, "run_apart", _run_here)
    return shutil.copytree(made / "out", tmp_path / "out")


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _falsify(out: Path, stage: str, name: str) -> Record:
    """Changes a file of one unit as a faulty core would: its commit record tells of the changed file."""
    store = Store(out)
    record = next(record for record in store.records(stage) if record.artefacts.get(name))
    file = record.artefacts[name]
    data = bytearray(store.path(file.path).read_bytes())
    data[len(data) // 2] ^= 1
    changed = store.write(file.path, bytes(data))
    return store.commit(replace(record, artefacts=record.artefacts | {name: replace(changed, rows=file.rows)}))


def _only(checks: list[Check], record: Record) -> list[Check]:
    """The check of one record: what stands on a wrong result may differ as well, or crash."""
    return [check for check in checks if (record.stage, record.unit) in [(r.stage, r.unit) for r in check.expected]]


def test_a_right_run_is_found_right_and_stays_as_it_is(run: Path) -> None:
    before, beside = _files(run), sorted(run.parent.iterdir())
    found = audit(run, 1.0)
    assert (found.differing, found.obstacles) == ([], [])
    assert [(of.stage, of.units) for of in found.stages if of.audited != of.units] == []
    assert [of.stage for of in found.stages] == [
        "prepare", "keys", "match", "cluster", "gather", "decide", "select", "train", "tokenize", "count", "evidence",
    ]  # fmt: skip
    assert _files(run) == before
    assert sorted(run.parent.iterdir()) == beside


@pytest.mark.parametrize(
    ("stage", "name"),
    [
        ("measure", "signals"), ("measure", "quarantine"), ("judge", "signals"), ("keep", "text"),
        ("keep", "documents"), ("sketch", "signatures"), ("keys", "keys"), ("match", "edges"), ("cluster", "members"),
        ("gather", "texts"), ("decide", "removed"), ("select", "selection"), ("train", "tokenizer"),
        ("tokenize", "shard"), ("count", "tokens"), ("evidence", "removed"),
    ],
)  # fmt: skip
def test_a_wrong_result_that_verify_cannot_see_is_named(
    run: Path, monkeypatch: pytest.MonkeyPatch, stage: str, name: str
) -> None:
    record = _falsify(run, stage, name)
    assert not any("differs from its checksum" in problem for problem in verify(run))
    monkeypatch.setattr(audits, "_sample", lambda checks, share, rng: _only(checks, record))
    found = audit(run)
    (difference,) = [difference for checked in found.differing for difference in checked.differences]
    assert difference[:3] == (stage, record.unit, record.artefacts[name].path)
    assert f"{record.artefacts[name].path}: {stage} {record.unit} made" in render(found)


def test_a_wrong_number_in_a_record_is_named(run: Path) -> None:
    store = Store(run)
    record = next(iter(store.records("measure")))
    store.commit(replace(record, counts=record.counts | {"repaired": 7}))
    (checked,) = audit(run, 1.0).differing
    assert [difference[1:] for difference in checked.differences] == [(record.unit, "counts.repaired", "7", "0")]


def test_a_sample_takes_some_of_every_stage_and_the_same_for_a_seed(run: Path) -> None:
    found = audit(run, 0.3, seed=3)
    assert [of.audited for of in found.stages] == [math.ceil(0.3 * of.units) for of in found.stages]
    assert audit(run, 0.3, seed=3) == found


def test_without_work_the_parts_of_the_input_are_audited_and_the_rest_is_told(run: Path) -> None:
    _falsify(run, "judge", "signals")
    clean(Store(run))
    found = audit(run, 1.0)
    assert [of.stage for of in found.stages] == ["prepare"]
    assert len(found.differing) == 1
    assert "`--clean` removes work/" in render(found)


def test_input_that_has_changed_is_told_and_not_taken_for_a_wrong_result(made: Path, run: Path) -> None:
    path = made / "inputs" / "a" / "part-0.jsonl"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"e", b"a") + b"\n")
    found = audit(run, 1.0)
    path.write_bytes(before)
    assert found.differing == []
    assert [obstacle.split(":")[0] for obstacle in found.obstacles] == [
        "prepare a/part-0.jsonl@000000000000000p000000"
    ], found


def test_scores_are_audited_like_other_work(run: Path, tmp_path: Path) -> None:
    functions = Path(__file__).parent / "support" / "scorers.py"
    spec = {"length": {"function": f"{functions}:length"}}
    with pytest.MonkeyPatch.context() as patch:
        Serial(patch).run(recipe(datasets(tmp_path / "inputs"), tmp_path / "scored", scorers=spec))
    found = audit(tmp_path / "scored", 1.0)
    assert (found.differing, found.obstacles) == ([], [])
    assert [(of.stage, of.units, of.audited) for of in found.stages[:2]] == [("score", 4, 4), ("prepare", 4, 4)]
    record = _falsify(tmp_path / "scored", "score", "scores")
    clean(Store(tmp_path / "scored"))
    found = audit(tmp_path / "scored", 1.0)
    (difference,) = [difference for checked in found.differing for difference in checked.differences]
    assert difference[:3] == ("score", record.unit, record.artefacts["scores"].path)
    assert sum("its scores are gone" in obstacle for obstacle in found.obstacles) == 4


def test_what_is_no_finished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run\.json"):
        audit(tmp_path)


@pytest.mark.parametrize("share", ["0", "0%", "101%", "-1", "nan", "some"])
def test_a_sample_that_is_none_is_refused(run: Path, share: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["audit", str(run), f"--sample={share}"])


def test_the_command_says_what_it_did_and_whether_it_found_something(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(run), "--sample", "1%", "--seed", "5"]) == 0
    assert capsys.readouterr().out.endswith(
        "every unit of the sample gives what its commit record says; --seed 5 takes the same sample\n"
    )
    store = Store(run)
    record = next(store.records("cluster"))
    store.commit(replace(record, counts=record.counts | {"clusters": 0}))
    assert main(["audit", str(run), "--sample", "1%"]) == 1
