"""Each script of `pipelines/` from end to end, on a few documents, as a person would start it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import load_from_disk

PIPELINES = Path(__file__).resolve().parent.parent.parent / "pipelines"
PROSE = "The committee met on Tuesday to talk about the budget for the new library, and nobody left before noon. "
OTHER = "Rivers in the north carry less sand than those in the south, which is why their deltas stay small and steep. "


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Two datasets with a copy in each, and a third document that any of its filters would remove."""
    texts = {"best": [PROSE * 3, OTHER * 3], "rest": [PROSE * 3, "12345 67890 " * 20]}
    for name, rows in texts.items():
        lines = (json.dumps({"text": text}) + "\n" for text in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    path = tmp_path / "recipe.yaml"
    path.write_text(
        f"""
name: tiny
datasets:
  - {{name: best, path: {tmp_path}/best.jsonl}}
  - {{name: rest, path: {tmp_path}/rest.jsonl}}
filters: [zyda]
tokenizer: {{train: {{vocab_size: 300}}}}
resources: {{memory_per_task: 200MB}}
""",
        encoding="utf-8",
    )
    return path


def run(script: str, recipe: Path) -> Path:
    """Runs a script on one local Ray and returns the folder that it wrote."""
    out = recipe.parent / "out"
    command = [sys.executable, PIPELINES / script, recipe, "--address", "local", "--out", out]
    subprocess.run(command, check=True, timeout=120)
    return out


def outcomes(out: Path) -> dict[str, int]:
    """The documents of all datasets by outcome, those that occur."""
    total = json.loads((out / "statistics.json").read_text(encoding="utf-8"))["total"]["outcomes"]
    return {outcome: count["documents"] for outcome, count in total.items() if count["documents"]}


def test_curate_does_everything(recipe: Path) -> None:
    out = run("curate.py", recipe)
    assert outcomes(out) == {"filtered": 1, "removed_across": 1, "written": 2}
    assert load_from_disk(str(out / "corpus/best"))["n_duplicates"] == [1, 0]


def test_dedup_only_writes_the_text_that_stays_as_it_is(recipe: Path) -> None:
    out = run("dedup_only.py", recipe)
    assert outcomes(out) == {"removed_across": 1, "written": 3}
    rest = load_from_disk(str(out / "corpus/rest"))
    assert rest["text"] == ["12345 67890 " * 20]
    assert "input_ids" not in rest.column_names


def test_tokenize_only_keeps_every_document(recipe: Path) -> None:
    out = run("tokenize_only.py", recipe)
    assert outcomes(out) == {"written": 4}
    rest = load_from_disk(str(out / "corpus/rest"))
    assert rest["text"] == [PROSE * 3, "12345 67890 " * 20]
    assert [len(ids) for ids in rest["input_ids"]] == rest["n_tokens"]
