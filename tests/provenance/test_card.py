import re
from pathlib import Path

import pytest
import yaml
from small import EXPECTED

from zydaflow import Run, load_recipe, open_run
from zydaflow.provenance import card
from zydaflow.provenance.card.markdown import fenced, text
from zydaflow.recipe import OutputSpec, ResourceSpec


@pytest.fixture(scope="module")
def run(small_run: Path) -> Run:
    return open_run(small_run)


@pytest.fixture(scope="module")
def written(small_run: Path) -> str:
    return (small_run / "corpus" / "README.md").read_text(encoding="utf-8")


def rows(card: str, heading: str) -> list[list[str]]:
    """The table under a heading, cell by cell."""
    below = card.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_front_matter_names_licences_and_datasets(written: str) -> None:
    front = yaml.safe_load(written.split("---\n")[1])
    assert front["license"] == ["cc0-1.0", "other"]
    assert front["pretty_name"] == "small"
    assert front["tags"] == ["zydaflow", "deduplicated", "tokenized"]
    assert [config["config_name"] for config in front["configs"]] == ["a", "b"]


def test_composition_waterfall_and_overlap(written: str) -> None:
    composition = rows(written, "Composition and licences")
    assert [row[:3] for row in composition[2:]] == [["a", "CC0-1.0", "24"], ["b", "by document (column terms)", "20"]]
    head, _, a, b, total = rows(written, "What became of the documents")
    assert [name.replace(" ", "_") for name in head[2:]] == list(EXPECTED["a"])
    for name, row in (("a", a), ("b", b)):
        assert [int(cell.split()[0]) for cell in row[2:]] == list(EXPECTED[name].values())
    assert total[0] == "all datasets"
    overlap = [row[:3] for row in rows(written, "Overlap between the datasets")]
    assert overlap == [
        ["removed from", "kept in", "documents"],
        ["---"] * 3,
        ["a", "a", "3"],
        ["b", "a", "6"],
        ["b", "b", "1"],
        ["documents of", "similar to some of", "documents"],
        ["---"] * 3,
        ["a", "a", "6"],
        ["a", "b", "6"],
        ["b", "a", "6"],
        ["b", "b", "2"],
    ]


def test_what_was_lost_to_an_index_comes_last(run: Run) -> None:
    lost = {"documents": 2, "bytes": 10, "tokens": 4}
    losses = {"b": {"index": lost, "b": lost, "a": lost}, "a": {"an-index": lost}}
    shown = card.render(run.statistics | {"losses": losses, "matches": {}}, run.recipe)
    assert rows(shown, "Overlap between the datasets")[2:] == [
        ["a", "an-index", "2", "10 B", "4"],
        ["b", "a", "2", "10 B", "4"],
        ["b", "b", "2", "10 B", "4"],
        ["b", "index", "2", "10 B", "4"],
    ]


def test_every_column_of_the_corpus_is_explained(run: Run, written: str) -> None:
    explained = [row[0].replace("\\", "") for row in rows(written, "Columns")[2:]]
    assert explained == run.corpus("a").column_names


def test_columns_follow_the_recipe(run: Run) -> None:
    output = run.recipe.output.model_copy(update={"text": False, "signals": True})
    datasets = tuple(spec.model_copy(update={"metadata": ("url",)}) for spec in run.recipe.datasets)
    recipe = run.recipe.model_copy(update={"output": output, "datasets": datasets, "tokenizer": None})
    names = [name for name, _, _ in card.columns(recipe)]
    assert names[0] == "source"
    assert names[8:] == ["metadata", "n_words", "zyda.fraction_numerical", "zyda.mean_word_length"]


def test_the_card_says_nothing_of_the_machine(run: Run, written: str, small_run: Path) -> None:
    assert str(small_run.parent) not in written
    elsewhere = {"output": OutputSpec(path="/elsewhere"), "resources": ResourceSpec(shard_bytes=1_000_000)}
    assert card.render(run.statistics, run.recipe.model_copy(update=elsewhere)) == written


def test_the_recipe_in_the_card_makes_the_same_run(
    run: Run, written: str, small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_run.parent)
    recipe = load_recipe(yaml.safe_load(re.findall(r"```yaml\n(.*?)```", written, re.S)[0]), out=str(small_run))
    assert recipe == run.recipe


def test_no_deduplication_stays_none_in_the_recipe(run: Run) -> None:
    recipe = run.recipe.model_copy(update={"dedup": None})
    without = card.render(run.statistics | {"losses": {}}, recipe)
    assert "\ndedup: null\n" in without
    assert "Duplicates were not looked for." in without


def test_a_licence_with_markup_breaks_no_table(run: Run) -> None:
    a, b = run.recipe.datasets
    hostile = a.model_copy(update={"license": "A|B <script>\n[x](y) `c` *d*"})
    shown = card.render(run.statistics, run.recipe.model_copy(update={"datasets": (hostile, b)}))
    row = rows(shown, "Composition and licences")[2]
    assert len(row) == 6
    assert row[1] == r"A\|B \<script\> \[x\](y) \`c\` \*d\*"
    assert yaml.safe_load(shown.split("---\n")[1])["license"] == [hostile.license.lower(), "other"]


def test_warnings_of_the_run_are_told(run: Run) -> None:
    alarm = {"dataset": "a", "rule": "n_words.min", "kind": "removes_all", "message": "n_words.min removes <all> 3"}
    shown = card.render(run.statistics | {"alarms": [alarm]}, run.recipe)
    assert "Warnings of the run:\n\n- a: n_words.min removes \\<all\\> 3\n" in shown


def test_text_stays_text() -> None:
    assert text("a_b _c_ <d> | e\nf & g") == r"a_b \_c\_ \<d\> \| e f &amp; g"
    assert fenced("x ```` y", "yaml") == "`````yaml\nx ```` y\n`````"
