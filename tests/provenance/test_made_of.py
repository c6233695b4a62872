"""How a run is told in sentences."""

from typing import Any

import pytest

from zydaflow.provenance.made_of import classifiers, deduplication
from zydaflow.recipe import load_recipe


def told(dedup: dict[str, Any] | None, **keys: Any) -> str:
    datasets = [{"name": name, "path": "x", "metadata": ["url"]} | keys.get(name, {}) for name in ("a", "b")]
    return deduplication(load_recipe({"name": "x", "datasets": datasets, "dedup": dedup}))


def test_none() -> None:
    assert told(None) == "Duplicates were not looked for."


def test_the_defaults() -> None:
    assert told({"bands": 32, "rows": 4}) == (
        "MinHash over shingles of 13 words, 128 permutations in 32 bands of 4 rows, within and across passes. "
        "A document goes if one that stays comes before it, by rank first, shares a band with it, and is at least "
        "0.4 similar by the signatures."
    )


@pytest.mark.parametrize(
    ("dedup", "keys", "sentence"),
    [
        ({"exact": ["text", "url"]}, {}, "has the same text or url."),
        ({"keep": ["url ascending", "length"]}, {}, "the order is by url ascending, length."),
        ({"across": {"remove_from": ["b"]}}, {}, "only those of b went."),
        ({}, {"a": {"frozen": True}}, "Nothing went from a, and the others lost to it, whatever their rank."),
        ({}, {"b": {"dedup": False}}, "Not compared with anything: b."),
        ({"against": ["/data/evals"], "passes": []}, {}, "What is in the index evals went too."),
    ],
)
def test_choices(dedup: dict[str, Any], keys: dict[str, Any], sentence: str) -> None:
    assert told(dedup, **keys).endswith(sentence)


def test_classifiers() -> None:
    named = {name: {"model": f"/models/{name}.bin", "label": "hq"} for name in ("dclm", "ours")}
    recipe = load_recipe({"name": "x", "datasets": [{"name": "a", "path": "x"}], "classifiers": named})
    assert classifiers(recipe) == (
        "classifier.dclm is the probability of hq by dclm.bin. classifier.ours is the probability of hq by ours.bin."
    )
