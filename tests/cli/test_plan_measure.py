"""`zydaflow plan --measure`: what it tells of a small recipe, and that `plan` alone reads no text."""

import json
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from small import write_small

from zydaflow import tokens
from zydaflow.cli import main


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(write_small(tmp_path)), encoding="utf-8")
    return path


def measured(recipe: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What `--measure` adds."""
    assert main(["plan", str(recipe), "--measure", *options]) == 0
    return capsys.readouterr().out.split("\n\nmeasured ")[1]


def cells(output: str, first: str) -> list[str]:
    """The cells of the row that begins so."""
    (row,) = re.findall(rf"^  {re.escape(first)} {{2,}}(.*)$", output, re.MULTILINE)
    return re.split(r" {2,}", row)


def test_without_it_no_text_is_read(recipe, capsys, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("text was read")

    for form in ("jsonl", "parquet"):
        monkeypatch.setattr(f"zydaflow.sources.read.read_{form}", refuse)
    assert main(["plan", str(recipe)]) == 0
    assert "measured" not in capsys.readouterr().out
    assert main(["plan", str(recipe), "--measure"]) == 4
    assert "text was read" in capsys.readouterr().err


def test_a_small_input_is_measured_whole(recipe, capsys) -> None:
    output = measured(recipe, capsys)
    assert output.startswith("on the whole input, 26.6 kB of text\n")
    assert cells(output, "a")[1:4] == ["all", "79.4%", "27"]
    assert cells(output, "b")[1:4] == ["all", "90.0%", "27"]
    assert cells(output, "within    similar") == ["4"]
    assert cells(output, "across    similar") == ["6"]
    assert len(re.findall(r"missed +0$", output, re.MULTILINE)) == 2
    assert "Similar pairs are counted" in output


def test_it_tells_disk_and_memory(recipe, capsys) -> None:
    output = measured(recipe, capsys)
    assert cells(output, "work/signatures")[1] == re.search(r"work/signatures.*   (\d+ B)", output)[1]
    assert cells(output, "work/bands")[1] == "336 B, until the run ends"  # 42 bands of 8 bytes
    assert "are free" in cells(output, "at most")[1]
    assert re.findall(r"^  (\w+) .* grows with", output, re.MULTILINE) == ["measure", "match", "cluster", "decide"]


def test_a_sample_says_how_sure_its_numbers_are(recipe, capsys, monkeypatch) -> None:
    monkeypatch.setattr("zydaflow.foresight.text.BUDGET", 4000)
    monkeypatch.setattr("zydaflow.foresight.pieces.SMALLEST", 1000)
    output = measured(recipe, capsys)
    assert output.startswith("on a sample: ")
    assert "read from the beginning only: 1;" in output
    assert re.search(r"within +similar +(under|[\d,]+ +\d+ +±)", output)
    assert "±: the standard error" in output


def test_without_dedup_there_are_no_pairs(recipe, capsys) -> None:
    output = measured(recipe, capsys, "--set", "dedup=null")
    assert "pairs" not in output
    assert "work/bands" not in output
    assert "decide" not in output


@pytest.mark.parametrize("change", ["dedup=null", "datasets.a.dedup=false"])
def test_tokens_do_not_depend_on_what_is_compared(recipe, capsys, tmp_path, change) -> None:
    (tmp_path / "tokenizer.json").write_text(tokens.train([pa.array(["ab cd ef"] * 9, pa.large_string())], 300))
    options = ["--set", f"tokenizer={tmp_path / 'tokenizer.json'}", "--set"]
    compared, apart = (measured(recipe, capsys, *options, change) for change in ("dedup.threshold=0.4", change))
    assert int(cells(apart, "a")[-1].replace(",", "")) > 5000
    assert cells(apart, "a") == cells(compared, "a")
    assert cells(apart, "corpus") == cells(compared, "corpus")


def test_band_keys_are_those_of_what_is_compared(recipe, capsys) -> None:
    output = measured(recipe, capsys, "--set", "datasets.a.dedup=false")
    assert cells(output, "work/bands")[0] == "9.1 kB"  # 27 documents of 42 bands of 8 bytes


def test_dates_that_cannot_be_read_are_told(recipe, capsys, tmp_path) -> None:
    rows = [{"text": "words " * 30, "when": when} for when in ("2020-01-02", "01/02/2020", None)]
    (tmp_path / "dated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sets = ["datasets.a.path=" + str(tmp_path / "dated.jsonl"), "datasets.a.date=when", "datasets.a.id=null"]
    options = [option for change in [*sets, "dedup.keep=[date]"] for option in ("--set", change)]
    told = "warning: dataset a: dates of 1 of 3 kept documents cannot be read, like '01/02/2020'; "
    assert told in measured(recipe, capsys, *options)
    assert "dates of" not in measured(recipe, capsys)


def test_the_joint_pass_has_one_kind_of_pairs(recipe, capsys) -> None:
    output = measured(recipe, capsys, "--set", "dedup={passes: [joint], verify: none}")
    assert cells(output, "joint     similar") == ["10"]


def test_it_leaves_nothing_behind(recipe, capsys, monkeypatch, tmp_path) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    before = sorted(tmp_path.rglob("*"))
    measured(recipe, capsys)
    assert sorted(tmp_path.rglob("*")) == before


def test_more_documents_than_are_compared_make_it_an_estimate(recipe, capsys, monkeypatch) -> None:
    for module in ("expected", "text"):
        monkeypatch.setattr(f"zydaflow.foresight.{module}.DOCUMENTS", 20)
    output = measured(recipe, capsys)
    assert output.startswith("on the whole input")
    assert "In the sample: among 20 documents" in output
