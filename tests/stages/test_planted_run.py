"""Near-duplicates with known answers, through all stages."""

import json
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from serial import Serial

RANKS = ("a", "b", "c")


@pytest.fixture
def planted(shared_data: Path) -> Path:
    return shared_data / "planted"


def _run(serial: Serial, planted: Path, out: Path, **dedup: object) -> list[dict]:
    """The removals of a run over the planted datasets."""
    recipe = {
        "name": "planted",
        "datasets": [
            {"name": name, "path": str(planted / f"{name}.jsonl"), "id": "id", "transform": []} for name in RANKS
        ],
        "filters": [],
        "dedup": {"bands": 32, "rows": 4, "threshold": 0.4} | dedup,
        "output": {"path": str(out)},
    }
    serial.run(recipe)
    return pq.read_table(out / "evidence" / "removed.parquet").to_pylist()


def _jaccard(planted: Path) -> dict[frozenset[str], float]:
    lines = (planted / "pairs.jsonl").read_text().splitlines()
    return {frozenset((pair["a"], pair["b"])): pair["jaccard13"] for pair in map(json.loads, lines)}


@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_every_removal_names_a_document_that_is_in_the_output(
    serial: Serial, planted: Path, out: Path, verify: str
) -> None:
    removed = _run(serial, planted, out, verify=verify)
    survivors = {
        (name, row) for name in RANKS for row in datasets.load_from_disk(str(out / "corpus" / name))["source_id"]
    }
    assert len(removed) > 500
    assert {(row["kept_dataset"], row["kept_id"]) for row in removed} <= survivors
    assert not {(row["dataset"], row["id"]) for row in removed} & survivors
    read = sum(len((planted / f"{name}.jsonl").read_text().splitlines()) for name in RANKS)
    assert len(survivors) + len(removed) == read


def test_exact_removals_are_similar_and_similar_documents_are_removed(serial: Serial, planted: Path, out: Path) -> None:
    jaccard = _jaccard(planted)
    removed = {row["id"]: row for row in _run(serial, planted, out, verify="exact")}
    for row in removed.values():
        assert row["jaccard"] >= 0.4
        assert jaccard[frozenset((row["id"], row["kept_id"]))] == pytest.approx(row["jaccard"], abs=5e-5)
    kinds = {d["id"]: d["kind"] for d in map(json.loads, (planted / "documents.jsonl").read_text().splitlines())}
    assert not [name for name in removed if kinds[name] == "short"]
    for pair, similarity in jaccard.items():
        one, other = sorted(pair)  # a better rank sorts first
        if similarity >= 0.7 and one[0] != other[0] and one not in removed:
            assert other in removed


def test_estimated_removals_are_nearly_all_similar(serial: Serial, planted: Path, out: Path) -> None:
    jaccard = _jaccard(planted)
    removed = _run(serial, planted, out, verify="signature")
    kept = [
        max((s for p, s in jaccard.items() if row["id"] in p and row["kept_id"] in p), default=0) for row in removed
    ]
    assert sum(s < 0.4 for s in kept) <= 0.02 * len(removed)
    assert sum(s < 0.3 for s in kept) <= 0.002 * len(removed)


def test_documents_behind_one_template_stay(serial: Serial, planted: Path, out: Path) -> None:
    removed = _run(serial, planted, out, verify="exact", threshold=0.6)
    kinds = {d["id"]: d["kind"] for d in map(json.loads, (planted / "documents.jsonl").read_text().splitlines())}
    assert not [row for row in removed if kinds[row["id"]] == "template"]
