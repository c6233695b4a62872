"""`zydaflow plan`: what it checks, what it shows, and that it neither reads text nor starts Ray."""

import json
import re
import sys
from pathlib import Path

import pytest
from fsspec.registry import _registry

from zydaflow.cli import main
from zydaflow.pipeline import run
from zydaflow.recipe import load_recipe

TEXT = "A sentence of plain words that says very little, and another one that says the same again and again. "
RECIPE = """
name: tiny
datasets:
  - {{name: prose, path: {folder}/prose.jsonl, sample: 0.5}}
  - {{name: code, path: {folder}/code, text: content, filters: []}}
filters: [zyda, {{signal: n_words, min: 20}}]
dedup: {{bands: 32, rows: 4}}
output: {{path: {folder}/out}}
"""


def write_lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    write_lines(tmp_path / "prose.jsonl", [{"text": TEXT * 3}])
    for name in ("one", "two"):
        write_lines(tmp_path / f"code/{name}.jsonl", [{"content": f"x = {name}"}])
    path = tmp_path / "tiny.yaml"
    path.write_text(RECIPE.format(folder=tmp_path), encoding="utf-8")
    return path


def shown(recipe: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What plan prints for a recipe that is all right."""
    assert main(["plan", str(recipe), *options]) == 0
    return capsys.readouterr().out


def refused(recipe: Path, capsys: pytest.CaptureFixture[str], status: int, *options: str) -> str:
    """What plan says of a recipe that is not."""
    assert main(["plan", str(recipe), *options]) == status
    return capsys.readouterr().err


def test_datasets_are_shown_by_rank_with_files_and_shards(recipe, capsys) -> None:
    rows = [line.split() for line in shown(recipe, capsys).splitlines()]
    size = (recipe.parent / "prose.jsonl").stat().st_size
    assert ["1", "prose", "1", str(size), "B", "1"] in rows
    assert ["2", "code", "2", "46", "B", "2"] in rows
    assert ["all", "3", str(size + 46), "B", "3"] in rows


def test_every_dataset_is_shown_with_its_own_transform_and_rules(recipe, capsys) -> None:
    output = shown(recipe, capsys)
    prose = output[output.index("\nprose\n") : output.index("\ncode\n")]
    code = output[output.index("\ncode\n") : output.index("\nstages\n")]
    assert "sample     0.5 of the documents" in prose
    assert "transform  zyda" in prose
    assert "zyda.mean_word_length ≥ 3, ≤ 12" in prose
    assert "n_words ≥ 20" in prose
    assert code.split("\n")[2:4] == [
        "  transform  none: the text stays byte for byte",
        "  keeps      every document that has a text",
    ]


def test_the_curve_is_the_probability_of_sharing_a_band(recipe, capsys) -> None:
    found = re.findall(r"^  (0\.\d+|1) +([\d.]+)%", shown(recipe, capsys), re.MULTILINE)
    expected = [(s / 10, 100 * (1 - (1 - (s / 10) ** 4) ** 32)) for s in range(1, 11)]
    assert [(float(s), float(p)) for s, p in found] == [(s, pytest.approx(p, abs=0.005)) for s, p in expected]


def test_a_split_that_misses_most_pairs_at_the_threshold_is_warned_of(recipe, capsys) -> None:
    assert "warning" not in shown(recipe, capsys)
    output = shown(recipe, capsys, "--set", "dedup.threshold=0.35")
    assert "warning: dedup.bands: 32 bands × 4 rows find only 38.4% of the pairs" in output
    assert re.search(r"^  0\.35 +38\.\d\d%  #+  ← threshold$", output, re.MULTILINE)


def test_without_dedup_there_are_no_bands(recipe, capsys) -> None:
    output = shown(recipe, capsys, "--set", "dedup=null")
    assert "no deduplication: every kept document stays" in output
    assert "bands" not in output


def test_all_missing_inputs_are_named_at_once(recipe, capsys) -> None:
    (recipe.parent / "prose.jsonl").unlink()
    message = refused(recipe, capsys, 3, "--set", "datasets.code.text=body")
    assert f"there is no file or folder {recipe.parent}/prose.jsonl" in message
    assert "has no column 'body'" in message


@pytest.mark.parametrize(
    ("option", "status", "message"),
    [
        ("tokenizer=./absent.json", 3, "absent.json"),
        ("language={model: ./absent.ftz, keep: [en]}", 3, "absent.ftz"),
        ("word_lists={sexual: ./absent.json}", 3, "absent.json"),
        ("datasets.code.path=s3://bucket/code.jsonl", 3, "pip install s3fs"),
        ("filters=[zida]", 2, "zida"),
        ("datasets.prose.transform=[zida]", 2, "zida"),
        ("dedup.permutations=100", 2, "128"),
    ],
)
def test_what_is_missing_or_wrong_is_named(recipe, capsys, monkeypatch, option, status, message) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)  # whether it is installed here or not,
    monkeypatch.delitem(_registry, "s3", raising=False)  # and loaded by an earlier test or not
    assert message in refused(recipe, capsys, status, "--set", option)


def test_a_disk_that_is_too_small_is_refused(recipe, capsys, monkeypatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10})())
    assert "free" in refused(recipe, capsys, 3)


def test_no_ray_is_started_and_nothing_is_written(recipe, capsys, monkeypatch) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("Ray was started")

    monkeypatch.setattr("ray.init", start)
    assert "done already: nothing" in shown(recipe, capsys)
    assert not (recipe.parent / "out").exists()


def test_what_a_rerun_would_reuse(recipe, capsys) -> None:
    memory = "resources.memory_per_task=200MB"
    run(load_recipe(recipe, [memory]))
    assert "This run is finished: nothing is left to do." in shown(recipe, capsys, "--set", memory)
    assert _reused(shown(recipe, capsys, "--set", "dedup.threshold=0.9")) == {
        "measure": "3 of 3 shards", "judge": "3 of 3 shards", "keep": "3 of 3 shards", "sketch": "3 of 3 shards",
        "match": "1 of 1 units",
    }  # fmt: skip
    fewer = shown(recipe, capsys, "--set", "filters=[zyda, {signal: n_words, min: 25}]")
    assert _reused(fewer) == {
        "measure": "3 of 3 shards",
        "judge": "2 of 3 shards",
        "keep": "2 of 3 shards",
        "sketch": "2 of 3 shards",
    }
    write_lines(recipe.parent / "code/two.jsonl", [{"content": "y = 1"}])
    assert _reused(shown(recipe, capsys)) == dict.fromkeys(("measure", "judge", "keep", "sketch"), "2 of 3 shards")


def _reused(output: str) -> dict[str, str]:
    lines = output[output.index("done already") :].splitlines()[1:]
    return dict(line.split(maxsplit=1) for line in lines)
