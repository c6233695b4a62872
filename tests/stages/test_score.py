"""Scores in a run: what they are, what is done again when something about them changes, and what rests on them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from inputs import recipe
from killing import Killed, die_at
from serial import Serial, results

from zydaflow import whatif
from zydaflow.cli import main
from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.commits import Store
from zydaflow.provenance.verify import verify
from zydaflow.recipe import load_recipe
from zydaflow.stages import raw
from zydaflow.stages.plan import check, is_finished, plan
from zydaflow.stages.reuse import reusable

FUNCTIONS = Path(__file__).parent.parent / "support" / "scorers.py"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards whose raw text was read."""
    read, names = raw.sources.read_shard, []

    def spied(shard: Any, *arguments: Any, **rest: Any) -> Any:
        names.append(shard.file)
        return read(shard, *arguments, **rest)

    monkeypatch.setattr(raw.sources, "read_shard", spied)
    return names


def _scored(entries: list[dict], out: Path, tokenizer: str | None, most: float = 250, **changes: Any) -> dict[str, Any]:
    """A recipe that scores by length in words of five letters, has a rule on it, and writes it."""
    scorers = {"length": {"function": f"{FUNCTIONS}:length", "params": {"divide": 5}}}
    output = {"path": str(out), "shard_text": "20kB", "signals": True}
    rules = [{"signal": "n_words", "min": 5}, {"signal": "scorer.length", "max": most}]
    return recipe(entries, out, tokenizer=tokenizer, scorers=scorers, output=output, filters=rules) | changes


def _signals(out: Path) -> pa.Table:
    """What is told of all documents."""
    return pa.concat_tables([pq.read_table(path) for path in sorted(out.glob("signals/*/*.parquet"))])


def _values(out: Path, name: str = "scorer.length") -> list[tuple]:
    columns = _signals(out).select(["dataset", "file", "position", name]).to_pydict()
    return sorted(zip(*columns.values(), strict=True))


def test_scores_are_signals_like_others(serial: Serial, entries: list[dict], out: Path, tokenizer: str) -> None:
    serial.run(_scored(entries, out, tokenizer))
    lengths = {}
    for line in Path(entries[0]["path"], "part-0.jsonl").read_text().splitlines():
        lengths[json.loads(line)["id"]] = len(json.loads(line)["text"]) / 5
    rows = _signals(out).filter(pa.compute.field("file") == "part-0.jsonl").to_pylist()
    assert {int(row["id"]): row["scorer.length"] for row in rows} == lengths
    assert all(("scorer.length.max" in row["broken"]) == (row["scorer.length"] > 250) for row in rows)
    blank = _signals(out).filter(pa.compute.field("verdict").isin(["null", "empty"]))
    assert len(blank) == 2
    assert blank["scorer.length"].null_count == 2
    statistics = json.loads((out / "statistics.json").read_bytes())["datasets"]["a"]
    assert statistics["rules"]["scorer.length.max"]["broken_at_all"]["documents"] > 0
    assert sum(statistics["signals"]["scorer.length"]["all"]) == 42
    assert verify(out) == []
    assert is_finished(plan(load_recipe(_scored(entries, out, tokenizer))))


def test_the_result_is_the_same_however_the_input_is_cut(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], tmp_path: Path, tokenizer: str
) -> None:
    found = []
    for order, (size, batch) in enumerate([("1MB", 256), ("4kB", 3)]):
        small = _scored(entries, tmp_path / str(order), tokenizer, resources={"shard_bytes": size})
        small["scorers"]["length"] |= {"batch": batch, "actors": order + 1}
        found.append(results(Serial(monkeypatch, order).run(small)))
    assert found[0] == found[1]


def test_another_bound_scores_nothing_and_reads_only_what_changes(
    serial: Serial, entries: list[dict], out: Path, tokenizer: str, reads: list[str]
) -> None:
    serial.run(_scored(entries, out, tokenizer))
    reads.clear()
    serial.run(_scored(entries, out, tokenizer, most=251))  # a bound that no document lies at
    assert "scorer.length" not in serial.done
    assert reads == []
    serial.run(_scored(entries, out, tokenizer, most=1000))
    assert "scorer.length" not in serial.done
    assert "measure" in serial.done


def test_another_function_measures_nothing_where_the_verdicts_stay(
    serial: Serial, entries: list[dict], tmp_path: Path, tokenizer: str, reads: list[str]
) -> None:
    out = tmp_path / "out"
    mine = tmp_path / "mine.py"
    mine.write_text(FUNCTIONS.read_text())
    small = _scored(entries, out, tokenizer)
    small["scorers"]["length"]["function"] = f"{mine}:length"
    serial.run(small)
    kept = sorted(path.name for path in out.glob("work/kept/*/*"))
    signals = sorted(path.name for path in out.glob("work/signals/*/*"))
    mine.write_text(mine.read_text() + "\n# another file\n")
    reads.clear()
    serial.run(small)
    assert len(serial.done["scorer.length"]) == len(reads) == 4  # each shard, read once, by the scorer
    assert sorted(path.name for path in out.glob("work/kept/*/*")) == kept
    assert sorted(path.name for path in out.glob("work/signals/*/*")) == signals
    assert not {"keys", "bands", "match", "cluster", "decide"} & set(serial.done)
    serial.run(small)
    assert serial.done == {}


def test_another_function_changes_what_rests_on_its_scores(
    serial: Serial, entries: list[dict], tmp_path: Path, tokenizer: str
) -> None:
    """Values in the corpus and the copies that stay; where no verdict changes, kept text stays as it is."""
    shared = {"keep": ["scorer.length"], "shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4}
    small = _scored(entries, tmp_path / "out", tokenizer, most=10**6, dedup=shared)
    out = serial.run(small)
    before = results(out)
    small["scorers"]["length"]["params"] = {"divide": -5}  # the shortest copy stays
    changed = results(serial.run(small))
    assert "match" not in serial.done
    assert {"keys", "decide", "select"} <= set(serial.done)
    assert "measure" in serial.done  # verdicts have new values beside them
    fresh = small | {"output": small["output"] | {"path": str(tmp_path / "fresh")}}
    assert results(serial.run(fresh)) == changed != before
    assert verify(out) == []


def test_a_second_scorer_leaves_the_first_alone(
    serial: Serial, entries: list[dict], tmp_path: Path, tokenizer: str
) -> None:
    (tmp_path / "words").write_text("edited")
    small = _scored(entries, tmp_path / "out", tokenizer)
    out = serial.run(small)
    before = _values(out)
    words = {"function": f"{FUNCTIONS}:Counting", "files": {"words": str(tmp_path / "words")}}
    small["scorers"]["edits"] = words
    serial.run(small)
    assert "scorer.length" not in serial.done
    assert len(serial.done["scorer.edits"]) == 4
    assert _values(out) == before
    assert max(value for *_, value in _values(out, "scorer.edits") if value is not None) == 3.0
    (tmp_path / "words").write_text("lan mor")  # another content, another fingerprint
    serial.run(small)
    assert set(serial.done) >= {"scorer.edits"}
    assert "scorer.length" not in serial.done


def test_a_dataset_names_its_scorers(serial: Serial, entries: list[dict], out: Path, tokenizer: str) -> None:
    named = [entry | ({"scorers": []} if entry["name"] == "b" else {}) for entry in entries]
    unscored = [entry | ({"filters": []} if entry["name"] == "b" else {}) for entry in named]
    with pytest.raises(RecipeError, match=r"dataset b: there is no score 'scorer.length'"):
        check(load_recipe(_scored(named, out, tokenizer)))
    serial.run(_scored(unscored, out, tokenizer))
    assert {dataset for dataset, *_, value in _values(out) if value is not None} == {"a", "c"}
    assert len(serial.done["scorer.length"]) == 3


def test_documents_on_which_it_fails_are_told_and_rules_do_not_apply(
    serial: Serial, tmp_path: Path, tokenizer: str, capsys: pytest.CaptureFixture
) -> None:
    texts = ["one two three four five", "<raise> two three four five", "<exit> two three four five"]
    lines = [json.dumps({"id": f"d{k}", "text": text}) for k, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    entries = [{"name": "a", "path": str(tmp_path / "a.jsonl"), "id": "id"}]
    small = _scored(entries, tmp_path / "out", tokenizer, most=1)
    small["scorers"]["length"] = {"function": f"{FUNCTIONS}:hostile"}
    out = serial.run(small)
    assert [value for *_, value in _values(out)] == [23.0, None, None]
    assert [row["broken"] for row in _signals(out).to_pylist()] == [["scorer.length.max"], [], []]
    at = [sum(len(line) + 1 for line in lines[:k]) for k in range(3)]
    told = capsys.readouterr().err
    assert "warning: 2 scores could not be had, and are null:" in told
    reasons = [
        "its processing raised ValueError: a fault in the code",
        "its processing ended the process (exit status 3)",
    ]
    for k, reason in enumerate(reasons, 1):
        assert f"  scorer.length: a: a.jsonl at {at[k]:,}: {reason}; its id is d{k}\n" in told
    (record,) = Store(out).records("score")
    assert record.counts == {"documents": 3, "unscored": 2}


def test_a_run_that_ends_at_any_commit_of_scores_goes_on_from_there(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], tmp_path: Path, tokenizer: str
) -> None:
    small = _scored(entries, tmp_path / "out", tokenizer, resources={"shard_bytes": 9000})
    undisturbed = results(Serial(monkeypatch).run(small | {"output": small["output"] | {"path": str(tmp_path / "x")}}))
    parts = len(list(Store(tmp_path / "x").records("score")))
    assert parts > 6  # of them some in one compressed file
    for number in (1, 3):
        with monkeypatch.context() as patch:
            die_at(patch, number, after=True)
            with pytest.raises(Killed):
                Serial(patch).run(small)
    serial = Serial(monkeypatch)
    assert results(serial.run(small)) == undisturbed
    done = [
        step for step in reusable(Store(tmp_path / "out"), plan(load_recipe(small))) if step.stage == "scorer.length"
    ]
    assert [(step.done, step.units) for step in done] == [(len(plan(load_recipe(small)).shards),) * 2]


def test_scores_that_are_lost_are_made_again(serial: Serial, entries: list[dict], out: Path, tokenizer: str) -> None:
    small = _scored(entries, out, tokenizer)
    before = results(serial.run(small))
    shutil.rmtree(out / "work" / "scores" / "a")
    (out / "run.json").write_text((out / "run.json").read_text().replace('"finished": true', '"finished": false'))
    assert results(serial.run(small)) == before
    assert len(serial.done["scorer.length"]) == 2


def test_an_extension_scores_what_is_new(
    serial: Serial, entries: list[dict], tmp_path: Path, tokenizer: str, reads: list[str]
) -> None:
    whole = results(serial.run(_scored(entries, tmp_path / "whole", tokenizer)))
    small = _scored(entries[:2], tmp_path / "out", tokenizer)
    out = serial.run(small)
    reads.clear()
    extended = _scored(entries, out, tokenizer)
    changed = _scored(entries, out, tokenizer)
    changed["scorers"]["length"]["params"] = {"divide": 6}
    with pytest.raises(RecipeError, match=r"dataset a: other than in .*: scorers.length"):
        serial.extend(changed)
    serial.extend(extended)
    assert set(reads) == {"c.parquet"}
    assert results(out) == whole
    shutil.rmtree(out / "work" / "scores" / "a")
    with pytest.raises(InputError, match="lacks its scores"):
        serial.extend(_scored([*entries, entries[2] | {"name": "d"}], out, tokenizer))


def test_what_if_other_scores_said_which_copy_stays(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    dedup = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4}
    runs = []
    for keep in ("scorer.length", "scorer.length ascending"):
        changes = {"tokenizer": None, "dedup": dedup | {"keep": [keep]}, "most": 10**6}
        runs.append(serial.run(_scored(entries, tmp_path / f"run-{len(runs)}", **changes)))
    whatif(runs[0], keep=["scorer.length ascending"], output=tmp_path / "then.parquet")
    files = [*(run / "evidence" / "removed.parquet" for run in runs), tmp_path / "then.parquet"]
    removed = map(pq.read_table, files)
    now, real, then = (table.drop_columns([c for c in table.column_names if "tokens" in c]) for table in removed)
    assert then.equals(real)
    assert not then.equals(now)


def test_a_plan_looks_for_scorers_and_its_sample_leaves_them_out(
    entries: list[dict], out: Path, tokenizer: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    small = _scored(entries, out, tokenizer, most=1)  # which next to nothing passes
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(small))
    assert main(["plan", str(path), "--measure"]) == 0
    told = capsys.readouterr().out
    assert "score      raw records → scorer.length by scorers.py:length; 1 × (a core, 2.0 GB)" in told
    assert "scorers are not run here (length): what rules on their scores remove is not counted" in told
    assert re.search(r"^  a  .* all +97.7%", told, re.MULTILINE)  # all that can be read
    small["scorers"]["length"]["function"] = f"{FUNCTIONS}:lenght"
    path.write_text(yaml.safe_dump(small))
    assert main(["plan", str(path)]) == 2
    assert "scorers.length.function: " in (told := capsys.readouterr().err)
    assert "has no 'lenght'; did you mean length?" in told
