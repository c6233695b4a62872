"""A changed recipe does again what depends on the change, and nothing else."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from inputs import prose, recipe
from serial import Serial, results

from zydaflow import tokens
from zydaflow.provenance.commits import Store
from zydaflow.provenance.waterfall import load
from zydaflow.recipe import load_recipe
from zydaflow.stages import raw
from zydaflow.stages.plan import plan


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards whose raw text was read."""
    read, names = raw.sources.read_shard, []

    def spied(shard: Any, *arguments: Any, **rest: Any) -> Any:
        names.append(shard.file)
        return read(shard, *arguments, **rest)

    monkeypatch.setattr(raw.sources, "read_shard", spied)
    return names


def test_nothing_is_done_twice(serial: Serial, entries: list[dict], out: Path) -> None:
    before = results(serial.run(recipe(entries, out)))
    after = results(serial.run(recipe(entries, out)))
    assert serial.done == {}
    assert after == before


def test_another_threshold_reads_no_text_again(
    serial: Serial, entries: list[dict], out: Path, reads: list[str]
) -> None:
    small = recipe(entries, out)
    serial.run(small)
    assert reads
    reads.clear()
    serial.run(recipe(entries, out, dedup=small["dedup"] | {"threshold": 0.9}))
    assert reads == []
    assert not {"measure", "bands", "match", "cluster"} & set(serial.done)
    assert {"decide", "evidence", "select"} <= set(serial.done)


def test_tokens_are_made_only_of_what_comes_back(
    serial: Serial, entries: list[dict], tmp_path: Path, tokenizer: str
) -> None:
    small = recipe(entries, tmp_path / "used", tokenizer=tokenizer)
    other = {"dedup": small["dedup"] | {"threshold": 0.9}, "tokenizer": tokenizer}
    fresh = results(serial.run(recipe(entries, tmp_path / "fresh", **other)))
    out = serial.run(small)
    documents = sum(record.counts["documents"] for record in Store(out).records("tokenize"))
    with pytest.MonkeyPatch.context() as patch:
        encoded, encode = [], tokens.Tokenizer.encode
        patch.setattr(tokens.Tokenizer, "encode", lambda self, texts: encoded.append(len(texts)) or encode(self, texts))
        used = results(serial.run(recipe(entries, tmp_path / "used", **other)))
    assert used == fresh
    assert sum(encoded) == sum(record.counts["documents"] for record in Store(out).records("tokenize")) - documents > 0


def test_another_band_split_is_made_from_stored_signatures(
    serial: Serial, entries: list[dict], out: Path, reads: list[str]
) -> None:
    small = recipe(entries, out)
    serial.run(small)
    assert reads
    reads.clear()
    serial.run(recipe(entries, out, dedup=small["dedup"] | {"bands": 16, "rows": 8}))
    assert reads == []
    assert "measure" not in serial.done
    assert {"bands", "match", "cluster", "decide"} <= set(serial.done)


def test_other_permutations_are_never_mixed_with_the_old_ones(
    serial: Serial, entries: list[dict], tmp_path: Path
) -> None:
    small = recipe(entries, tmp_path / "used")
    other = {"dedup": small["dedup"] | {"permutations": 112, "bands": 28}}
    serial.run(small)
    used = results(serial.run(recipe(entries, tmp_path / "used", **other)))
    fresh = results(serial.run(recipe(entries, tmp_path / "fresh", **other)))
    assert used == fresh


def test_another_text_column_is_never_mixed_with_the_old_one(serial: Serial, tmp_path: Path) -> None:
    rows = [{"text": prose(Random(k), 60), "summary": prose(Random(k % 3), 60)} for k in range(9)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    entry = {"name": "d", "path": str(tmp_path / "d.jsonl")}
    serial.run(recipe([entry], tmp_path / "used"))
    used = results(serial.run(recipe([entry | {"text": "summary"}], tmp_path / "used")))
    assert used == results(serial.run(recipe([entry | {"text": "summary"}], tmp_path / "fresh")))
    assert load(tmp_path / "used")["total"]["outcomes"]["removed_within"]["documents"] == 6


def test_a_rule_that_changes_no_verdict_reads_no_text(
    serial: Serial, entries: list[dict], out: Path, reads: list[str]
) -> None:
    before = results(serial.run(recipe(entries, out)))
    assert reads
    reads.clear()
    after = results(serial.run(recipe(entries, out, filters=["zyda", {"signal": "n_words", "min": 4}])))
    assert reads == []
    changed = {path for path in before if before[path] != after.get(path)}
    assert changed - {"corpus/README.md"} == {"statistics.json"}  # the card tells the recipe


def test_a_rule_that_changes_verdicts_reads_only_the_shards_in_which_they_change(
    serial: Serial, entries: list[dict], tmp_path: Path, reads: list[str]
) -> None:
    serial.run(recipe(entries, tmp_path / "out"))
    assert reads
    reads.clear()
    stricter = {"filters": ["zyda", {"signal": "n_words", "min": 90}]}
    again = results(serial.run(recipe(entries, tmp_path / "out", **stricter)))
    assert reads
    assert set(reads) < {"part-0.jsonl", "part-1.jsonl", "b.jsonl.gz", "c.parquet"}
    assert again == results(serial.run(recipe(entries, tmp_path / "fresh", **stricter)))


def test_going_back_to_the_first_recipe_gives_the_first_result(serial: Serial, entries: list[dict], out: Path) -> None:
    before = results(serial.run(recipe(entries, out)))
    serial.run(recipe(entries, out, filters=[], dedup=None, tokenizer=None))
    assert results(serial.run(recipe(entries, out))) == before


def test_an_input_that_changed_is_read_again(serial: Serial, tmp_path: Path) -> None:
    from inputs import datasets

    entries = datasets(tmp_path / "inputs")
    serial.run(recipe(entries, tmp_path / "out"))
    part = tmp_path / "inputs" / "a" / "part-0.jsonl"
    part.write_text(part.read_text() + '{"text": "' + "one more document " * 9 + '"}\n')
    again = results(serial.run(recipe(entries, tmp_path / "out")))
    assert serial.done["measure"] == ["a/part-0.jsonl@000000000000000"]
    assert again == results(serial.run(recipe(entries, tmp_path / "fresh")))


def test_a_tokenizer_that_changed_in_its_folder_is_another_run(tmp_path: Path, entries: list[dict], out: Path) -> None:
    (tmp_path / "model").mkdir()
    file = tmp_path / "model" / "tokenizer.json"
    file.write_text("{}")
    small = load_recipe(recipe(entries, out, tokenizer=str(tmp_path / "model")))
    before = plan(small).fingerprint
    assert plan(small).fingerprint == before
    file.write_text("{ }")
    assert plan(small).fingerprint != before
