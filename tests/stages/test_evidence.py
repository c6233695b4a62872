"""The evidence of a small run, and what the statistics make of it: every number by hand."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from inputs import edited, prose
from serial import Serial, results
from tokenizers import Tokenizer

from zydaflow.dedup.evidence import CLUSTERS, REMOVED
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load
from zydaflow.stages import cluster, evidence

TEXTS = {name: prose(random.Random(k), 50 + 10 * k) for k, name in enumerate("stuvwxyz")}
# Copies of s in all three datasets and twice in a, of t in all three, of u twice in b and once in c.
PLAN = {"a": "svtsw", "b": "stuux", "c": "sytuz"}
Count = dict[str, int]


def _write(folder: Path, plan: dict[str, list[str]]) -> list[dict[str, Any]]:
    """JSON Lines files with these texts, and their recipe entries; the id of a document tells its place."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, texts in plan.items():
        lines = [json.dumps({"id": f"{name}{k}", "text": text}) for k, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return [{"name": name, "path": str(folder / f"{name}.jsonl"), "id": "id"} for name in plan]


def _recipe(entries: list[dict[str, Any]], out: Path, **changes: Any) -> dict[str, Any]:
    return {
        "name": "evidence",
        "datasets": entries,
        "dedup": {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4},
        "tokenizer": {"train": {"vocab_size": 320}},
        "output": {"path": str(out), "shard_text": "1kB"},
    } | changes


@pytest.fixture
def copies(tmp_path: Path) -> list[dict[str, Any]]:
    return _write(tmp_path / "in", {name: [TEXTS[key] for key in keys] for name, keys in PLAN.items()})


def _counted(out: Path) -> Callable[[str], Count]:
    """What some texts of TEXTS come to, by their own bytes and by the tokenizer that the run has trained."""
    tokenizer = Tokenizer.from_file(str(out / "corpus" / "tokenizer.json"))

    def count(keys: str) -> Count:
        texts = [TEXTS[key] for key in keys]
        tokens = sum(len(tokenizer.encode(text, add_special_tokens=False).ids) + 1 for text in texts)
        return {"documents": len(texts), "bytes": sum(map(len, texts)), "tokens": tokens}

    return count


def test_who_lost_what_to_whom_and_who_is_alike(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    found = load(serial.run(_recipe(copies, out)))
    count = _counted(out)
    assert found["losses"] == {
        "a": {"a": count("s")},
        "b": {"a": count("st"), "b": count("u")},
        "c": {"a": count("st"), "b": count("u")},
    }
    assert found["matches"] == {
        "a": {"a": count("ss"), "b": count("sst"), "c": count("sst")},
        "b": {"a": count("st"), "b": count("uu"), "c": count("stuu")},
        "c": {"a": count("st"), "b": count("stu")},
    }
    outcomes = {name: of["outcomes"] for name, of in found["datasets"].items()}
    assert outcomes["b"]["removed_within"] == count("u")
    assert outcomes["b"]["removed_across"] == count("st")
    assert outcomes["b"]["written"] == count("ux")
    assert outcomes["c"]["removed_across"] == count("stu")
    assert verify(out) == []


def test_equal_texts_are_an_outcome_of_their_own(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    spec = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4, "exact": ["text"]}
    found = load(serial.run(_recipe(copies, out, dedup=spec)))
    count = _counted(out)
    outcomes = {name: of["outcomes"] for name, of in found["datasets"].items()}
    assert outcomes["a"]["removed_exact"] == count("s")
    assert outcomes["b"]["removed_exact"] == count("stu")
    assert outcomes["c"]["removed_exact"] == count("stu")
    assert found["total"]["outcomes"]["removed_within"]["documents"] == 0
    assert found["total"]["outcomes"]["removed_across"]["documents"] == 0
    assert found["losses"]["c"] == {"a": count("st"), "b": count("u")}
    assert {row["outcome"] for row in pq.read_table(out / "evidence/removed.parquet").to_pylist()} == {"removed_exact"}
    assert verify(out) == []


def test_every_row_has_the_tokens_of_its_documents(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    serial.run(_recipe(copies, out))
    count = _counted(out)
    table = pq.read_table(out / "evidence" / "removed.parquet")
    assert table.schema.equals(REMOVED, check_metadata=True)
    rows = table.to_pylist()
    assert [(row["id"], row["kept_id"]) for row in rows] == [
        ("a3", "a0"), ("b0", "a0"), ("b1", "a2"), ("b3", "b2"), ("c0", "a0"), ("c2", "a2"), ("c3", "b2"),
    ]  # fmt: skip
    for row in rows:
        key = PLAN[row["dataset"]][int(row["id"][1:])]
        assert (row["tokens"], row["kept_tokens"]) == (count(key)["tokens"],) * 2
        assert row["bytes"] == count(key)["bytes"]


def test_how_large_clusters_are(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    clusters = load(serial.run(_recipe(copies, out)))["clusters"]
    rows = pq.read_table(out / "evidence" / "clusters.parquet").to_pylist()
    of_s, of_t, of_u = (row["cluster"] for row in rows)
    assert clusters["count"] == 3
    assert clusters["sizes"] == {"2": 2, "4": 1}
    assert clusters["by_dataset"] == {"a": {"1": 1, "2": 1}, "b": {"1": 2, "2": 1}, "c": {"1": 3}}
    assert clusters["most"] == {
        "a": {"documents": 2, "cluster": of_s},
        "b": {"documents": 2, "cluster": of_u},
        "c": {"documents": 1, "cluster": of_s},
    }
    largest = [{key: value for key, value in of.items() if key != "samples"} for of in clusters["largest"]]
    assert largest == rows
    assert [of["cluster"] for of in largest] == [of_s, of_t, of_u]
    assert [of["size"] for of in largest] == [4, 3, 3]


def test_samples_of_the_largest_clusters(serial: Serial, tmp_path: Path, out: Path) -> None:
    rng = random.Random(3)
    original = prose(rng, 400)
    variants = [edited(rng, original, changes) for changes in (30, 2, 12, 6, 20)]
    texts = [original, *variants]
    entries = _write(tmp_path / "in", {"a": [original, TEXTS["v"]], "b": variants})
    found = load(serial.run(_recipe(entries, out)))
    removed = sorted(
        pq.read_table(out / "evidence" / "removed.parquet").to_pylist(), key=lambda row: row["jaccard_estimate"]
    )
    assert [row["id"] for row in removed] == ["b0", "b4", "b2", "b3", "b1"]
    (largest,) = found["clusters"]["largest"]
    assert (largest["size"], largest["kept"]) == (6, 1)
    assert [sample["similarity"] for sample in largest["samples"]] == [
        removed[k]["jaccard_estimate"] for k in (0, 2, 4)
    ]
    assert largest["lowest_similarity"] == largest["samples"][0]["similarity"]
    assert largest["median_similarity"] == largest["samples"][1]["similarity"]
    place = {"dataset": "a", "file": "a.jsonl", "position": 0, "id": "a0", "excerpt": original[:160]}
    for sample, row in zip(largest["samples"], (removed[k] for k in (0, 2, 4)), strict=True):
        assert sample["outcome"] == "removed_across"
        assert sample["kept"] == place
        assert sample["removed"] == {
            **{key: row[key] for key in ("dataset", "file", "position", "id")},
            "excerpt": texts[1 + int(row["id"][1:])][:160],
        }


def test_only_the_ten_largest_are_shown(serial: Serial, tmp_path: Path, out: Path) -> None:
    groups = [prose(random.Random(k), 60) for k in range(12)]
    texts = [text for k, text in enumerate(groups) for _ in range(4 if k == 11 else 3 if k % 2 else 2)]
    found = load(serial.run(_recipe(_write(tmp_path / "in", {"a": texts}), out)))["clusters"]
    order = [row["cluster"] for row in pq.read_table(out / "evidence" / "clusters.parquet").to_pylist()]
    assert found["count"] == 12
    shown = [order.index(of["cluster"]) for of in found["largest"]]
    assert shown == [11, 1, 3, 5, 7, 9, 0, 2, 4, 6]  # by size, and equal ones by their first document


def test_tokens_are_unknown_before_they_are_counted(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    small = _recipe(copies, out)
    found = load(serial.run(small, until="decide"))
    assert found["losses"]["a"]["a"] == {"documents": 1, "bytes": len(TEXTS["s"])}
    assert found["matches"]["c"]["a"] == {"documents": 2, "bytes": len(TEXTS["s"] + TEXTS["t"])}
    table = pq.read_table(out / "evidence" / "removed.parquet")
    assert table["tokens"].null_count == table["kept_tokens"].null_count == len(table) == 7
    serial.run(small)
    assert serial.done["evidence"] == ["evidence"]
    assert pq.read_table(out / "evidence" / "removed.parquet")["tokens"].null_count == 0
    assert load(out)["losses"]["a"]["a"] == _counted(out)("s")


def test_tokens_of_what_was_filtered_are_estimated(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    outcomes = load(serial.run(_recipe(copies, out, filters=[{"signal": "n_words", "min": 60}])))["datasets"]["a"][
        "outcomes"
    ]
    count = _counted(out)
    assert outcomes["written"] == count("vtw")
    size, written = count("ss")["bytes"], outcomes["written"]
    estimated = size * written["tokens"] // written["bytes"]
    assert outcomes["filtered"] == {"documents": 2, "bytes": size, "tokens_estimated": estimated}
    assert outcomes["removed_within"] == {"documents": 0, "bytes": 0}


def test_without_a_tokenizer_there_are_no_tokens(serial: Serial, copies: list[dict[str, Any]], out: Path) -> None:
    found = load(serial.run(_recipe(copies, out, tokenizer=None)))
    assert found["losses"]["a"]["a"] == {"documents": 1, "bytes": len(TEXTS["s"])}
    assert "tokens" not in found["datasets"]["a"]["outcomes"]["removed_within"]
    assert pq.read_table(out / "evidence" / "removed.parquet")["tokens"].null_count == 7
    assert verify(out) == []


def test_without_duplicates_the_tables_are_empty(serial: Serial, tmp_path: Path, out: Path) -> None:
    found = load(serial.run(_recipe(_write(tmp_path / "in", {"a": [TEXTS["v"], TEXTS["w"]]}), out)))
    assert found["losses"] == found["matches"] == {}
    nothing = {"count": 0, "sizes": {}, "by_dataset": {}, "most": {}, "largest": []}
    assert {key: found["clusters"][key] for key in nothing} == nothing
    assert pq.read_table(out / "evidence" / "removed.parquet").equals(REMOVED.empty_table())
    assert pq.read_table(out / "evidence" / "clusters.parquet").equals(CLUSTERS.empty_table())


def test_partitions_and_strides_change_nothing(
    serial: Serial, entries: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = results(serial.run(_recipe(entries, tmp_path / "whole")))
    monkeypatch.setattr(cluster, "WORTH_SHARING", 3)
    monkeypatch.setattr(evidence, "STRIDE", 7)
    parts = serial.run(_recipe(entries, tmp_path / "parts"))
    assert len(serial.done["decide"]) > 10
    assert results(parts) == whole
