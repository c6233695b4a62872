"""Every record that was read has one outcome, whatever the recipe makes of it."""

import json
from pathlib import Path

import datasets
import pytest
from inputs import recipe
from serial import Serial

from zydaflow.errors import InputError, RunError
from zydaflow.provenance import statistics
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load


def _counts(out: Path, dataset: str) -> dict[str, int]:
    outcomes = load(out)["datasets"][dataset]["outcomes"]
    return {outcome: count["documents"] for outcome, count in outcomes.items() if count["documents"]}


def _ten_files(folder: Path) -> dict:
    """Ten files; only the last one holds documents that are long enough."""
    for k in range(10):
        words = ["word"] * (200 if k == 9 else 3)
        lines = [json.dumps({"text": " ".join([*words, str(k), str(n)])}) for n in range(5)]
        (folder / f"{k}.jsonl").write_text("\n".join(lines))
    return {"name": "ten", "path": str(folder)}


@pytest.mark.parametrize(("least", "written"), [(100, 5), (1000, 0)])
def test_filters_that_empty_nine_shards_of_ten_and_all(
    serial: Serial, tmp_path: Path, out: Path, least: int, written: int
) -> None:
    entries = [_ten_files(tmp_path)]
    rules = [{"signal": "n_words", "min": least}]
    serial.run(recipe(entries, out, filters=rules, dedup=None))
    assert _counts(out, "ten") == {"filtered": 50 - written} | ({"written": written} if written else {})
    corpus = datasets.load_from_disk(str(out / "corpus" / "ten"))
    assert len(corpus) == written
    assert {"input_ids", "source_file", "text"} <= set(corpus.column_names)
    assert len(list((out / "corpus" / "ten").glob("*.arrow"))) == 1
    assert verify(out) == []


def test_the_sample_left_out_is_counted_and_not_read(serial: Serial, entries: list[dict], out: Path) -> None:
    half = [entry | {"sample": 0.5} for entry in entries]
    serial.run(recipe(half, out))
    found = load(out)["datasets"]
    for name, whole in (("a", 43), ("b", 40), ("c", 29)):
        assert found[name]["sampled_out"] > 5
        assert found[name]["read"]["documents"] + found[name]["sampled_out"] == whole


def test_no_dedup_no_tokenizer_no_filters(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out, filters=[], dedup=None, tokenizer=None))
    corpus = datasets.load_from_disk(str(out / "corpus" / "a"))
    assert "input_ids" not in corpus.column_names
    text = {json.loads(line)["text"] for line in Path(entries[0]["path"], "part-0.jsonl").read_text().splitlines()}
    assert text <= set(corpus["text"])
    assert not (out / "evidence").exists()


def test_signals_and_metadata_come_along(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out, output={"path": str(out), "signals": True}))
    corpus = datasets.load_from_disk(str(out / "corpus" / "b"))
    assert json.loads(corpus[0]["metadata"]) == {"url": "https://b.example/0"}
    assert corpus[0]["n_words"] == len(corpus[0]["text"].split())
    assert corpus[0]["source"] == "b"
    assert sum(corpus["n_duplicates"]) > 0


def test_a_licence_that_is_not_allowed_is_a_reason(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out, licenses={"allow": ["MIT"]}))
    assert "written" not in _counts(out, "a")
    assert load(out)["datasets"]["a"]["rules"]["license.allow"]["broken_at_all"]["documents"] == 42


def test_a_damaged_input_is_named(serial: Serial, entries: list[dict], tmp_path: Path, out: Path) -> None:
    whole = Path(entries[1]["path"]).read_bytes()
    cut = tmp_path / "b.jsonl.gz"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(InputError, match=r"b\.jsonl\.gz"):
        serial.run(recipe([entries[1] | {"path": str(cut)}], out))
    assert not list(out.glob("commits/measure/*"))


def test_a_dataset_of_mostly_bad_records_fails(serial: Serial, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "fine"}\n' * 200 + '{"text": \n' * 150)
    with pytest.raises(InputError, match="150 of 350 records cannot be read"):
        serial.run(recipe([{"name": "bad", "path": str(path)}], out))


def test_a_leak_is_an_error(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    found = load(out)
    statistics.check_sums(found, finished=True)
    found["datasets"]["b"]["outcomes"]["written"]["documents"] -= 1
    with pytest.raises(RunError, match="b: 40 documents were read, but the outcomes are"):
        statistics.check_sums(found, finished=True)


def test_the_only_duplicate_of_some_short_texts(serial: Serial, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "short.jsonl"
    texts = ["cat", "dog", "cat", "", "  ", "a b c d", "!!!", "???"]
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    entries = [{"name": "short", "path": str(path)}]
    serial.run(recipe(entries, out, filters=[], dedup={"shingle": {"size": 5}}, tokenizer=None))
    assert _counts(out, "short") == {"empty": 2, "removed_within": 1, "written": 5}
    assert load(out)["datasets"]["short"]["wordless"] == 2
