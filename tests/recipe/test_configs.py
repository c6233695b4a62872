"""The recipes that come with the project."""

from pathlib import Path

from zydaflow.filters import resolve
from zydaflow.recipe import load_recipe

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


def test_zyda():
    recipe = load_recipe(CONFIGS / "zyda.yaml")
    names = [dataset.name for dataset in recipe.datasets]
    assert [name for name in names if not name.startswith("starcoder-languages")] == [
        "starcoder-github-issues",
        "starcoder-jupyter",
        "starcoder-git-commits",
        "refinedweb",
        "pes2o",
        "arxiv",
        "c4-en",
        "pile-uncopyrighted",
        "slimpajama",
    ]
    for dataset in recipe.datasets:
        code = dataset.name.startswith("starcoder")
        assert recipe.filters_of(dataset) == (() if code else ("zyda",))
        assert recipe.transform_of(dataset) == (() if code else ("zyda",))
        assert dataset.text == ("content" if code or dataset.name == "refinedweb" else "text")
        assert dataset.path.startswith(("hub:", "hf://"))
    dedup = recipe.dedup
    assert (dedup.shingle.unit, dedup.shingle.size, dedup.permutations, dedup.threshold) == ("word", 13, 128, 0.4)
    assert (dedup.bands, dedup.rows, dedup.passes) == (32, 4, ("within", "across"))
    assert recipe.tokenizer == "EleutherAI/gpt-neox-20b"


def test_zyda_2():
    recipe = load_recipe(CONFIGS / "zyda-2.yaml")
    assert [dataset.name for dataset in recipe.datasets] == ["fineweb-edu", "dclm", "zyda-1", "dolma-cc"]
    assert all(recipe.transform_of(dataset) == () for dataset in recipe.datasets)
    dedup = recipe.dedup
    assert (dedup.shingle.unit, dedup.shingle.size, dedup.permutations, dedup.threshold) == ("character", 25, 128, 0.85)
    assert (dedup.bands, dedup.rows, dedup.passes) == (8, 16, ("across",))


def test_web():
    recipe = load_recipe(CONFIGS / "web.yaml")
    assert {recipe.transform_of(dataset) for dataset in recipe.datasets} == {("mask_pii",)}
    rules = {rule.name for dataset in recipe.datasets for rule in resolve(recipe, dataset)}
    assert {"language.keep", "gopher.word_count.min", "c4.sentence_count.min"} <= rules
    assert {"fineweb.line_punctuation_fraction.min", "gopher.duplicate_ngram_10_fraction.max"} <= rules
    assert "c4.bad_word_count.max" not in rules
    dedup = recipe.dedup
    assert (dedup.shingle.size, dedup.permutations, dedup.bands, dedup.rows) == (5, 112, 14, 8)
