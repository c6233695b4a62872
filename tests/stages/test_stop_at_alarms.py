"""Alarms warn at the end of a run, or stop it before the next stage."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml
from inputs import recipe
from serial import Serial

from zydaflow import cli, pipeline
from zydaflow.errors import RunError
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load

LONG = {"signal": "n_words", "min": 100}  # 22 of the 27 texts of c are shorter


def _alarms(out: Path) -> list[tuple[str, str, str]]:
    return [(alarm["dataset"], alarm["rule"], alarm["kind"]) for alarm in load(out)["alarms"]]


def test_they_warn_unless_they_are_to_stop(serial: Serial, entries: list[dict[str, Any]], out: Path) -> None:
    serial.run(recipe(entries, out, filters=[LONG]))
    assert ("c", "filters", "loses_much") in _alarms(out)
    assert load(out)["finished"]


def test_rules_that_take_too_much_stop_before_matching(
    serial: Serial, entries: list[dict[str, Any]], out: Path
) -> None:
    stopping = recipe(entries, out, filters=[LONG], alarms={"stop": True})
    with pytest.raises(RunError, match=r"\n  c: loses 22 of 27 documents to its rules") as raised:
        serial.run(stopping)
    assert f"{out}/report/index.html shows more" in str(raised.value)
    assert set(serial.done) == {"measure"}
    assert not load(out)["finished"]
    assert "documents to its rules" in (out / "report" / "index.html").read_text()
    serial.run(stopping | {"alarms": {"stop": True, "loses": 1.0}})
    assert "measure" not in serial.done
    assert load(out)["finished"]
    assert verify(out) == []


def test_duplicates_that_are_too_many_stop_before_tokenizing(
    serial: Serial, entries: list[dict[str, Any]], out: Path
) -> None:
    stopping = recipe(entries, out, alarms={"stop": True, "loses": 0.3})
    with pytest.raises(RunError, match=r"  b: loses 20 of 40 documents as duplicates, more than 30 %"):
        serial.run(stopping)
    assert {"decide", "evidence", "select"} <= set(serial.done)
    assert not {"train", "tokenize"} & set(serial.done)
    assert ("b", "dedup", "loses_much") in _alarms(out)
    serial.run(stopping | {"alarms": {"stop": False, "loses": 0.3}})
    assert not {"measure", "match", "decide"} & set(serial.done)
    assert ("b", "dedup", "loses_much") in _alarms(out)
    assert load(out)["finished"]
    assert verify(out) == []


def test_a_hot_bucket_and_a_cluster_that_is_much_of_a_dataset(serial: Serial, tmp_path: Path, out: Path) -> None:
    words = [f"word{k}" for k in range(60)]
    copies = [" ".join(words)] * 120
    others = [" ".join(f"{word}x{k}" for word in words) for k in range(280)]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in copies + others))
    many = recipe([{"name": "many", "path": str(path)}], out, filters=[], alarms={"bucket": 119, "cluster_share": 0.3})
    serial.run(many)
    assert _alarms(out) == [("all datasets", "dedup", "large_bucket")]
    assert load(out)["clusters"]["largest_bucket"] == 120
    serial.run(many | {"alarms": {"bucket": 120, "cluster_share": 0.29}})
    assert serial.done == {}
    assert _alarms(out) == [("many", "dedup", "large_cluster")]
    with pytest.raises(RunError, match=r"many: the cluster [0-9a-f]{16} holds 120 of 400 documents, more than 29 %"):
        serial.run(many | {"alarms": {"bucket": 120, "cluster_share": 0.29, "stop": True}})


def test_a_rule_that_removes_nothing_stops_no_run(serial: Serial, entries: list[dict[str, Any]], out: Path) -> None:
    serial.run(recipe(entries, out, filters=[{"signal": "n_words", "max": 10**6}], alarms={"stop": True}))
    assert {kind for _, _, kind in _alarms(out)} == {"removes_none"}
    assert load(out)["finished"]


def test_the_command_ends_with_4(
    serial: Serial,
    entries: list[dict[str, Any]],
    out: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pipeline, "session", lambda *_: nullcontext())
    monkeypatch.setattr(pipeline, "preflight", lambda *_: None)
    monkeypatch.setattr(pipeline, "on_every_node", lambda *_: None)
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe(entries, out, filters=[LONG], alarms={"stop": True})))
    assert cli.main(["run", str(path)]) == 4
    assert "set alarms.stop to false" in capsys.readouterr().err
    assert cli.main(["run", str(path), "--set", "alarms.stop=false"]) == 0
    assert "warning: c: loses" in capsys.readouterr().out
