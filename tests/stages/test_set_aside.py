"""Documents that could not be processed stay set aside when their part is judged, read or measured again."""

from pathlib import Path

import pytest
from inputs import recipe
from serial import Serial, results

import zydaflow
from zydaflow import sources
from zydaflow.errors import RunError
from zydaflow.provenance.commits import Store
from zydaflow.recipe import load_recipe
from zydaflow.sources import Shard
from zydaflow.stages import prepare
from zydaflow.stages.job import Job
from zydaflow.stages.parts import parts_of
from zydaflow.stages.plan import Plan, plan
from zydaflow.stages.unit import Trouble

FILE = "part-0.jsonl"
STRICT = ["zyda", {"signal": "n_words", "min": 200}]  # the same signals, fewer documents
SUSPECT = Trouble(kills=0, suspect=True)


def _shard(planned: Plan) -> Shard:
    return next(shard for shard in planned.shards if shard.file == FILE)


def _find(monkeypatch: pytest.MonkeyPatch, failing: dict[int, dict[int, str]]) -> None:
    """The search finds these."""
    monkeypatch.setattr(prepare, "find_failing", lambda store, job, batches: failing)


def _prepared(recipe_: dict, monkeypatch: pytest.MonkeyPatch, trouble: Trouble, rows: tuple[int, ...]) -> list[int]:
    """Prepares a shard after trouble, in which documents are found to be at fault; gives their positions."""
    planned = plan(load_recipe(recipe_))
    store, shard = Store(planned.recipe.output.path), _shard(planned)
    store.root.mkdir(exist_ok=True)
    spec = next(dataset for dataset in planned.recipe.datasets if dataset.name == shard.dataset)
    (batch,) = sources.read_shard(shard, spec, part_bytes=10**6, seed=1)
    positions = [batch.records["position"][row].as_py() for row in rows]
    _find(monkeypatch, {0: dict.fromkeys(positions, "it ended the process")} if rows else {})
    prepare.prepare(store, planned.recipe, shard, trouble)
    return positions


def _quarantined(out: Path) -> list[int]:
    table = zydaflow.open_run(out).quarantine()
    return [row["position"] for row in table.to_pylist() if row["file"] == FILE]


def _unreadable(out: Path) -> int:
    dataset = zydaflow.open_run(out).statistics["datasets"]["a"]
    assert dataset["unprocessed"] == 2
    return dataset["outcomes"]["unreadable"]["documents"]


def test_they_are_in_the_quarantine_and_the_sums_hold(
    serial: Serial, entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = _prepared(recipe(entries, out), monkeypatch, SUSPECT, (5, 2))
    serial.run(recipe(entries, out))
    assert _quarantined(out) == sorted(positions)
    assert _unreadable(out) == 3  # one line of another file is no JSON


def test_they_stay_there_when_other_rules_need_the_text_again(
    serial: Serial, entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = _prepared(recipe(entries, out), monkeypatch, SUSPECT, (2, 5))
    serial.run(recipe(entries, out))
    serial.run(recipe(entries, out, filters=STRICT))
    assert _quarantined(out) == positions
    assert _unreadable(out) == 3


def test_other_documents_at_fault_make_another_kept_text(
    entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeps = []
    for rows in ((2, 5), (2, 6)):
        settings = recipe(entries, out / str(rows[1]), filters=[])
        out.mkdir(exist_ok=True)
        _prepared(settings, monkeypatch, SUSPECT, rows)
        planned = plan(load_recipe(settings))
        (part,) = parts_of(Store(planned.recipe.output.path), Job(planned.recipe, _shard(planned)))
        assert part.keep is not None
        keeps.append(part.keep.fingerprint)
    assert keeps[0] != keeps[1]


def test_smaller_batches_give_the_same_result_and_are_not_mixed_with_larger_ones(
    serial: Serial, entries: list[dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "SMALLEST_BATCH", 500)
    plain = results(serial.run(recipe(entries, tmp_path / "plain")))
    _prepared(recipe(entries, tmp_path / "small"), monkeypatch, Trouble(kills=6), ())
    assert results(serial.run(recipe(entries, tmp_path / "small"))) == plain
    kept = next((tmp_path / "small" / "work" / "kept" / "a").glob("*part-0*"))
    large = next((tmp_path / "plain" / "work" / "kept" / "a").glob("*part-0*"))
    assert kept.read_bytes() != large.read_bytes()  # of more batches
    plain = results(serial.run(recipe(entries, tmp_path / "plain", filters=STRICT)))
    assert results(serial.run(recipe(entries, tmp_path / "small", filters=STRICT))) == plain


def test_an_error_that_no_document_raises_is_not_tried_away(
    entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match="no document is at fault"):
        _prepared(recipe(entries, out), monkeypatch, SUSPECT, ())
    assert not list(out.glob("commits/*/*"))
