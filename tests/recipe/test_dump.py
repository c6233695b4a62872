from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.recipe import dump_recipe, load_recipe

NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
BOUNDS = st.builds(lambda low, size: {"min": low, "max": low + size}, *[st.integers(0, 9)] * 2)
OWN = st.dictionaries(TEXTS, BOUNDS | st.just({}), max_size=2)
RULES = st.builds(lambda name, of, own: {"signal": name, **of, "by_language": own}, TEXTS, BOUNDS, OWN)
COLUMNS = st.builds(
    lambda name, test, nulls: {"column": name, **test, "nulls": nulls},
    TEXTS,
    BOUNDS | st.fixed_dictionaries({"allow": st.lists(TEXTS, max_size=2)}),
    st.sampled_from(["keep", "remove"]),
)
ITEMS = st.recursive(
    RULES | COLUMNS,
    lambda items: st.builds(
        lambda name, test, parts: {"name": name, test: parts},
        TEXTS,
        st.sampled_from(["any", "all"]),
        st.lists(items, min_size=1, max_size=2),
    ),
    max_leaves=3,
)
SETS = st.builds(
    lambda rules, without: {"set": "mine", "rules": rules, "without": without, "words": "script"},
    st.lists(ITEMS, max_size=2),
    st.lists(TEXTS, max_size=2),
)
FILTERS = st.lists(st.just("zyda") | ITEMS | SETS, max_size=3)
DATASETS = st.fixed_dictionaries(
    {"name": NAMES, "path": st.sampled_from(["a.jsonl", "hub:o/n:c@r", "s3://b/*.parquet", "/x/no", "~/1e3"])},
    optional={
        "text": TEXTS,
        "metadata": st.lists(TEXTS, max_size=3),
        "url": TEXTS,
        "license": TEXTS | st.builds(lambda column: {"column": column}, TEXTS),
        "transform": st.lists(TEXTS, max_size=2),
        "filters": FILTERS,
        "sample": st.floats(1e-9, 1),
    },
)
RECIPES = st.fixed_dictionaries(
    {"name": NAMES, "datasets": st.lists(DATASETS, min_size=1, max_size=3, unique_by=lambda dataset: dataset["name"])},
    optional={
        "filters": FILTERS,
        "dedup": st.none() | st.just({"threshold": 0.8, "bands": 9, "rows": 13}),
        "tokenizer": st.none() | st.just({"train": {"vocab_size": 300}}) | st.just("EleutherAI/gpt-neox-20b"),
        "language": st.just({"model": "m.ftz", "keep": ["no", "en"]}),
        "licenses": st.fixed_dictionaries({"allow": st.lists(TEXTS, max_size=2)}),
        "resources": st.fixed_dictionaries({"shard_bytes": st.integers(1, 10**12)}),
    },
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(RECIPES)
def test_a_dumped_recipe_loads_back_equal(tmp_path_factory, data):
    recipe = load_recipe(data)
    file = tmp_path_factory.mktemp("dump") / "recipe.yaml"
    file.write_text(dump_recipe(recipe), encoding="utf-8")
    assert load_recipe(file) == recipe


def test_every_default_is_spelled_out_and_what_is_implied_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filters = ["zyda", {"signal": "n_words", "min": 50}]
    datasets = [{"name": "code", "path": "c", "filters": []}, {"name": "blog", "path": "b"}]
    text = dump_recipe(load_recipe({"name": "x", "datasets": datasets, "filters": filters}))
    assert text.splitlines()[:3] == [
        "# code: filters none; transform none",
        "# blog: filters zyda, n_words; transform zyda",
        "name: x",
    ]
    data = yaml.safe_load(text)
    assert data["datasets"][1] == {
        "name": "blog",
        "path": f"{Path.cwd()}/b",
        "split": None,
        "text": "text",
        "id": None,
        "metadata": [],
        "date": None,
        "url": None,
        "license": None,
        "transform": None,
        "filters": None,
        "scorers": None,
        "sample": 1.0,
        "frozen": False,
        "dedup": True,
    }
    assert data["dedup"] == {
        "shingle": {"unit": "word", "size": 13},
        "permutations": 128,
        "threshold": 0.4,
        "bands": None,
        "rows": None,
        "exact": [],
        "passes": ["within", "across"],
        "across": None,
        "against": [],
        "keep": [],
        "verify": "signature",
        "compare_limit": 64,
    }
    assert data["output"] == {"path": f"{Path.cwd()}/runs/x", "text": True, "signals": False, "shard_text": "512MB"}
    assert data["resources"] == {"shard_bytes": "256MB", "memory_per_task": "2GB", "document_seconds": 60}
