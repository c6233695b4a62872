"""By domain: counts over stored tables are those of a slow count, document by document."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zydaflow import Run, open_run
from zydaflow.cli import main
from zydaflow.dedup.evidence import REMOVED
from zydaflow.errors import InputError
from zydaflow.provenance import domains
from zydaflow.provenance.domains import by_domain, render
from zydaflow.provenance.run_file import KEYS

VERDICTS = ["kept", "kept", "kept", "filtered", "null", "empty"]
NAMES = ["a.example", "b.example", "c.example", None]


def _documents(dataset: str, rng: random.Random) -> list[dict[str, Any]]:
    """Documents of two files of a dataset; some of those that are kept are `gone` as duplicates."""
    rows = []
    for file in ("x.jsonl", "y.jsonl"):
        for position in range(0, 3000, 7):
            row = {"dataset": dataset, "file": file, "position": position, "bytes": rng.randint(0, 999)}
            row |= {"verdict": rng.choice(VERDICTS), "url.domain": rng.choice(NAMES)}
            rows.append(row | {"gone": row["verdict"] == "kept" and rng.random() < 0.3})
    return rows


def _write(folder: Path, documents: list[dict[str, Any]]) -> None:
    """The files of a run that are read, as the run writes them."""
    label = pa.dictionary(pa.int32(), pa.string())
    types = {"dataset": label, "file": label, "position": pa.int64(), "bytes": pa.int64()}
    schema = pa.schema(
        [*types.items(), ("verdict", pa.dictionary(pa.int8(), pa.string())), ("url.domain", pa.string())]
    )
    outputs = []
    for dataset in ("one", "two"):
        for file in ("x.jsonl", "y.jsonl"):
            rows = [row for row in documents if (row["dataset"], row["file"]) == (dataset, file)]
            path = f"signals/{dataset}/{file}.parquet"
            outputs.append([path, 1])
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows, schema), folder / path, row_group_size=100)
    gone = sorted((row for row in documents if row["gone"]), key=lambda row: (row["dataset"], row["file"]))
    (folder / "evidence").mkdir()
    pq.write_table(pa.Table.from_pylist(gone, REMOVED), folder / "evidence" / "removed.parquet", row_group_size=64)
    outputs.append(["evidence/removed.parquet", 1])
    sets = [{"name": name, "path": f"/nowhere/{name}.jsonl"} for name in ("one", "two")]
    (folder / "recipe.yaml").write_text(json.dumps({"name": "by-hand", "datasets": sets}))
    (folder / "run.json").write_bytes(orjson.dumps(dict.fromkeys(KEYS) | {"outputs": outputs}))


def _slowly(documents: list[dict[str, Any]]) -> dict[str | None, Counter[str]]:
    """The counts of every domain, document by document."""
    counts: dict[str | None, Counter[str]] = {}
    for row in documents:
        verdict = row["verdict"]
        outcome = "duplicates" if row["gone"] else {"kept": "stays", "filtered": "filtered"}.get(verdict, "empty")
        of = counts.setdefault(row["url.domain"], Counter())
        of.update({"documents": 1, "bytes": row["bytes"], outcome: 1})
        of["stays_bytes"] += row["bytes"] if outcome == "stays" else 0
    return counts


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    rng = random.Random(5)
    return _documents("one", rng) + _documents("two", rng)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]) -> Run:
    folder = tmp_path_factory.mktemp("by-hand")
    _write(folder, documents)
    return open_run(folder)


def _as_counters(table: pa.Table) -> dict[str | None, Counter[str]]:
    rows = table.to_pylist()
    return {row.pop("domain"): Counter(row) for row in rows}


@pytest.mark.parametrize("at_a_time", [1, domains.ROWS])
def test_the_counts_are_those_of_document_by_document(
    run: Run, documents: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    monkeypatch.setattr(domains, "ROWS", at_a_time)
    table = by_domain(run)
    assert _as_counters(table) == _slowly(documents)
    assert table["documents"].to_pylist() == sorted(table["documents"].to_pylist(), reverse=True)
    own = [row for row in documents if row["dataset"] == "two"]
    assert _as_counters(by_domain(run, "two")) == _slowly(own)
    for row in table.to_pylist():
        assert row["documents"] == sum(row[outcome] for outcome in domains.OUTCOMES)


def test_without_evidence_nothing_is_a_duplicate(run: Run, documents: list[dict[str, Any]]) -> None:
    early = Run(run.root, {"outputs": [file for file in run.made_of["outputs"] if file[0].startswith("signals/")]})
    assert _as_counters(by_domain(early)) == _slowly([row | {"gone": False} for row in documents])


def test_for_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "SHOWN", 2)
    lines = render(by_domain(run)).splitlines()
    assert lines[0].split()[:3] == ["domain", "documents", "empty"]
    assert [line.split("  ")[0] for line in lines[3:]] == ["2 other domains", "all documents"]
    files, documents = 4, len(range(0, 3000, 7))
    assert lines[4].split()[2] == f"{files * documents:,}"


def test_from_the_command_line(run: Run, small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(run.root), "--by", "domain"]) == 0
    assert "(no domain)" in capsys.readouterr().out
    assert main(["stats", str(run.root), "--by", "domain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == by_domain(run).to_pylist()
    assert main(["stats", str(small_run), "--by", "domain"]) == InputError.exit_code
    assert "no domains: no dataset has url: COLUMN" in capsys.readouterr().err
