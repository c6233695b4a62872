from pathlib import Path

import pytest

from zydaflow.errors import RecipeError
from zydaflow.recipe import (
    ColumnRef,
    DedupSpec,
    LanguageSpec,
    OutputSpec,
    RuleSpec,
    ShingleSpec,
    TokenizerSpec,
    TrainPlan,
    TrainSpec,
    load_recipe,
)

FULL = """\
name: two-blogs
seed: 7
datasets:
  - name: code
    path: data/code-a.parquet
    split: train
    text: content
    id: path
    metadata: [url, date]
    license: BSD-3-Clause
    transform: []
    filters: []
  - {name: blog.en, path: "data/blog/*.jsonl.zst", license: {column: licence}, sample: 0.5}
filters: [zyda, {signal: n_words, min: 50}]
word_lists: {sexual: lists/sexual.txt}
language: {model: lid.176.ftz, keep: [en, no], min_score: 0.5, max_bytes: 1000}
licenses: {deny: [GPL-3.0]}
dedup:
  shingle: {unit: character, size: 25}
  permutations: 128
  threshold: 85e-2
  bands: 8
  rows: 16
  passes: [across]
  verify: exact
  compare_limit: 10
tokenizer: {path: models/tokenizer.json, end_of_text: <|endoftext|>}
output: {path: out, text: false, signals: true, shard_text: 1MiB}
resources: {shard_bytes: 1MB, memory_per_task: 3GB}
"""
SMALL = {"name": "small", "datasets": [{"name": "a", "path": "a.jsonl"}, {"name": "b", "path": "b.jsonl"}]}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current directory, as it is spelled in absolute paths."""
    monkeypatch.chdir(tmp_path)
    return str(Path.cwd())


def written(text: str) -> str:
    Path("recipe.yaml").write_text(text, encoding="utf-8")
    return "recipe.yaml"


def errors(source, *overrides, **options) -> list[str]:
    with pytest.raises(RecipeError) as caught:
        load_recipe(source, overrides, **options)
    assert caught.value.exit_code == 2
    return str(caught.value).splitlines()


def error_of(**parts) -> str:
    """The one error of the small recipe with these parts."""
    (error,) = errors(SMALL | parts)
    return error


def test_every_key(here):
    recipe = load_recipe(written(FULL))
    code, blog = recipe.datasets
    assert (recipe.name, recipe.seed) == ("two-blogs", 7)
    assert (code.path, code.split, code.text, code.id) == (f"{here}/data/code-a.parquet", "train", "content", "path")
    assert (code.metadata, code.license, code.sample) == (("url", "date"), "BSD-3-Clause", 1.0)
    assert (blog.path, blog.license, blog.sample) == (
        f"{here}/data/blog/*.jsonl.zst",
        ColumnRef(column="licence"),
        0.5,
    )
    assert recipe.filters == ("zyda", RuleSpec(signal="n_words", min=50.0))
    assert recipe.word_lists == {"sexual": f"{here}/lists/sexual.txt"}
    assert recipe.language == LanguageSpec(model="lid.176.ftz", keep=("en", "no"), min_score=0.5, max_bytes=1000)
    assert recipe.licenses.deny == ("GPL-3.0",)
    assert recipe.dedup == DedupSpec(
        shingle=ShingleSpec(unit="character", size=25),
        threshold=0.85,
        bands=8,
        rows=16,
        passes=("across",),
        verify="exact",
        compare_limit=10,
    )
    assert recipe.tokenizer == TokenizerSpec(path=f"{here}/models/tokenizer.json", end_of_text="<|endoftext|>")
    assert recipe.output == OutputSpec(path=f"{here}/out", text=False, signals=True, shard_text=1_048_576)
    assert (recipe.resources.shard_bytes, recipe.resources.memory_per_task) == (1_000_000, 3_000_000_000)


def test_filters_and_transforms_of_each_dataset(here):
    recipe = load_recipe(written(FULL))
    code, blog = recipe.datasets
    assert (recipe.filters_of(code), recipe.transform_of(code)) == ((), ())
    assert (recipe.filters_of(blog), recipe.transform_of(blog)) == (recipe.filters, ("zyda",))
    recipe = load_recipe(SMALL | {"datasets": [{"name": "a", "path": "a", "filters": ["zyda"], "transform": []}]})
    assert recipe.transform_of(recipe.datasets[0]) == ()
    recipe = load_recipe(SMALL | {"filters": ["c4", "fineweb", "zyda"]})
    assert recipe.transform_of(recipe.datasets[0]) == ("zyda", "c4")


def test_defaults(here):
    recipe = load_recipe(SMALL)
    assert [dataset.transform for dataset in recipe.datasets] == [None, None]
    assert (recipe.seed, recipe.filters, recipe.language, recipe.licenses, recipe.tokenizer) == (
        1,
        (),
        None,
        None,
        None,
    )
    assert recipe.output == OutputSpec(path=f"{here}/runs/small", text=True, signals=False, shard_text=512_000_000)
    assert (recipe.resources.shard_bytes, recipe.resources.memory_per_task) == (256_000_000, 2_000_000_000)
    dedup = recipe.dedup
    assert (dedup.shingle, dedup.permutations, dedup.threshold) == (ShingleSpec(unit="word", size=13), 128, 0.4)
    assert (dedup.bands, dedup.rows, dedup.passes, dedup.verify) == (None, None, ("within", "across"), "signature")
    assert load_recipe(SMALL | {"dedup": None}).dedup is None


def test_the_mapping_given_is_left_as_it_was(here):
    load_recipe(SMALL, ["datasets.a.sample=0.5", "dedup.threshold=0.8"], out="elsewhere")
    assert SMALL == {"name": "small", "datasets": [{"name": "a", "path": "a.jsonl"}, {"name": "b", "path": "b.jsonl"}]}


def test_a_recipe_is_frozen(here):
    with pytest.raises(ValueError, match="frozen"):
        load_recipe(SMALL).dedup.threshold = 0.5


def test_overrides(here):
    recipe = load_recipe(
        written(FULL),
        [
            "datasets.blog.en.sample=0.1",
            "datasets.0.text=body",
            "datasets[0].metadata=[]",
            "dedup.threshold=0.8",
            "dedup.threshold=9e-1",
            "language.keep=[no]",
            "licenses=null",
            "tokenizer={train: {vocab_size: 300}}",
            "output.shard_text=2MB",
            "output.text=true",
        ],
        out="123",
        sample=0.5,
    )
    assert [dataset.sample for dataset in recipe.datasets] == [0.5, 0.05]
    assert (recipe.datasets[0].text, recipe.datasets[0].metadata, recipe.dedup.threshold) == ("body", (), 0.9)
    assert (recipe.language.keep, recipe.licenses) == (("no",), None)
    assert recipe.tokenizer == TrainSpec(train=TrainPlan(vocab_size=300))
    assert (recipe.output.shard_text, recipe.output.text, recipe.output.path) == (2_000_000, True, f"{here}/123")


def test_an_override_makes_the_part_that_it_needs(here):
    recipe = load_recipe(SMALL | {"dedup": None}, ["dedup.threshold=0.8", "resources.shard_bytes=1MB"])
    assert (recipe.dedup.threshold, recipe.dedup.permutations, recipe.resources.shard_bytes) == (0.8, 128, 1_000_000)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("dedup.threshold", "write KEY=VALUE, like dedup.threshold=0.8"),
        ("=1", "write KEY=VALUE, like dedup.threshold=0.8"),
        ("datasets.blok.sample=1", "datasets has no item blok; there are: 0 to 1, code, blog.en"),
        ("datasets.coda.sample=1", "datasets has no item coda; did you mean code?"),
        ("datasets.2.sample=1", "datasets has no item 2; there are: 0 to 1, code, blog.en"),
        ("seed.x=1", "seed is 7 and has no keys; set seed as a whole"),
        ("dedup.treshold=0.8", "dedup.treshold: unknown key; did you mean threshold?"),
        ("dedupe.threshold=0.8", "dedupe: unknown key; did you mean dedup?"),
        (
            "dedup.threshold=high",
            'dedup.threshold: must be a number, not "high" '
            "(the similarity from which a document counts as a duplicate, above 0 and at most 1)",
        ),
    ],
)
def test_wrong_overrides_are_named(here, override, message):
    assert errors(written(FULL), override) == [f"--set {override}: {message}"]


def test_an_override_that_is_no_yaml(here):
    (error,) = errors(SMALL, "seed=[1")
    assert error.startswith("--set seed=[1:1: not valid YAML: ")


@pytest.mark.parametrize("share", [0, -1, 1.5])
def test_a_sample_is_a_share(here, share):
    assert errors(SMALL, sample=share) == [f"--sample {share:g}: must be above 0 and at most 1"]


def test_errors_are_reported_together_each_with_its_line(here):
    text = """\
nmae: x
datasets:
  - name: Code
    pth: data/code.parquet
    filters: [{signal: n_words, min: 5, max: 4}, {signl: n_words, min: 5}]
    sample: 2
filters: zyda
dedup:
  bands: 32
  rows: 5
"""
    assert errors(written(text)) == [
        "recipe.yaml:1: name: is missing (lower-case letters, digits, '.', '_' and '-')",
        'recipe.yaml:3: datasets[0].name: cannot be used as a name, not "Code" '
        "(lower-case letters, digits, '.', '_' and '-': it becomes the name of a folder)",
        "recipe.yaml:3: datasets[0].path: is missing "
        "(a file, folder, glob or URL, hub:OWNER/NAME[:CONFIG][@REVISION], or installed:NAME)",
        "recipe.yaml:5: datasets[0].filters[0].min: min 5 is above max 4: every document would be removed",
        "recipe.yaml:5: datasets[0].filters[1].signal: is missing (the name of a signal, like n_words)",
        "recipe.yaml:5: datasets[0].filters[1].signl: unknown key; did you mean signal?",
        "recipe.yaml:6: datasets[0].sample: must be at most 1, not 2 "
        "(the share of the documents to take, above 0 and at most 1)",
        "recipe.yaml:4: datasets[0].pth: unknown key; did you mean path?",
        'recipe.yaml:7: filters: must be a list, not "zyda" '
        "(rule sets and rules for the datasets that name none of their own)",
        "recipe.yaml:9: dedup.bands: bands × rows is 32 × 5 = 160, more than the 128 permutations; "
        "lower one or raise permutations",
        "recipe.yaml:1: nmae: unknown key; did you mean name?",
    ]


@pytest.mark.parametrize(
    ("dedup", "message"),
    [
        ({"bands": 32}, "dedup.rows: bands and rows belong together; give both or neither"),
        ({"rows": 4}, "dedup.bands: bands and rows belong together; give both or neither"),
        (
            {"passes": ["joint"]},
            "dedup.passes: the joint pass removes whole components without comparing their documents; "
            "set verify: none with it, or use passes: [within, across]",
        ),
        (
            {"verify": "none"},
            "dedup.verify: without verification a chain of removals would lose its evidence, so only the plain "
            "components of the original are offered; set passes: [joint] with it, or verify: signature or exact",
        ),
        (
            {"passes": []},
            "dedup.passes: must be [within, across], [within], [across] or [joint]; [] only with against or exact",
        ),
        ({"passes": ["within", "joint"]}, "dedup.passes: must be [within, across], [within], [across] or [joint]"),
        ({"passes": ["within", "within"]}, "dedup.passes: must be [within, across], [within], [across] or [joint]"),
        (
            {"passes": ["accross"]},
            "dedup.passes[0]: must be 'within', 'across' or 'joint', not \"accross\"; did you mean across?",
        ),
        (
            {"verify": "sha"},
            "dedup.verify: must be 'signature', 'exact' or 'none', not \"sha\"; known: signature, exact, none",
        ),
        (
            {"threshold": 0},
            "dedup.threshold: must be above 0, not 0 "
            "(the similarity from which a document counts as a duplicate, above 0 and at most 1)",
        ),
        (
            {"shingle": {"size": 0}},
            "dedup.shingle.size: must be at least 1, not 0 (how many words or characters make one shingle, 1 to 1,000)",
        ),
        (
            {"shingle": {"size": 1001}},
            "dedup.shingle.size: must be at most 1000, not 1001 "
            "(how many words or characters make one shingle, 1 to 1,000)",
        ),
        (
            {"permutations": True},
            "dedup.permutations: must be a whole number, not true "
            "(the number of values in a signature, 1 to 16,384, of 4 bytes each)",
        ),
        (
            {"permutations": 2**14 + 1},
            "dedup.permutations: must be at most 16384, not 16385 "
            "(the number of values in a signature, 1 to 16,384, of 4 bytes each)",
        ),
        (
            {"compare_limit": 10**6 + 1},
            "dedup.compare_limit: must be at most 1000000, not 1000001 "
            "(with how many staying documents a document is compared per band, 1 to 1,000,000)",
        ),
    ],
)
def test_dedup_that_cannot_be(here, dedup, message):
    assert error_of(dedup=dedup) == message


def test_dedup_that_can_be(here):
    for dedup in [
        {"passes": ["joint"], "verify": "none"},
        {"passes": ["across", "within"]},
        {"passes": ["within"], "verify": "exact"},
        {"bands": 32, "rows": 4, "threshold": 1},
        {"permutations": 9000, "bands": 20, "rows": 450, "threshold": 0.8},  # RefinedWeb's (arXiv 2306.01116)
    ]:
        load_recipe(SMALL | {"dedup": dedup})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"datasets": []}, "datasets: must not be empty"),
        (
            {"datasets": SMALL["datasets"] * 2},
            "datasets: several datasets have the name a, b; each needs a name of its own",
        ),
        ({"datasets": [{"name": "a", "path": 4}]}, "datasets[0].path: must be text, not 4; put it in quotes"),
        (
            {"datasets": [{"name": "a", "path": "a", "license": ["MIT"]}]},
            "datasets[0].license: must be the name of a licence, like CC0-1.0, or {column: NAME}",
        ),
        ({"filters": [{"signal": "x"}]}, "filters[0].min: the rule on x has no bound; give min, max or both"),
        (
            {"filters": [5]},
            "filters[0]: must be the name of a rule set, like zyda, or a rule, like {signal: n_words, min: 50}",
        ),
        (
            {"word_lists": {"sexul": "a"}},
            "word_lists.sexul: must be 'sexual', 'profanity', 'zh_pornsignals', 'cursed_substrings', "
            "'bad_words' or 'stop_words', not \"sexul\"; did you mean sexual?",
        ),
        ({"language": {"model": "m", "keep": []}}, "language.keep: must not be empty"),
        (
            {"language": {"model": "m", "keep": ["en"], "min_score": 1.5}},
            "language.min_score: must be at most 1, not 1.5 (the score from which a label counts, 0 to 1)",
        ),
        ({"licenses": {}}, "licenses.allow: licenses needs either allow or deny, and not both"),
        (
            {"licenses": {"allow": ["MIT"], "deny": ["GPL"]}},
            "licenses.allow: licenses needs either allow or deny, and not both",
        ),
        (
            {"tokenizer": {"train": {"vocab_size": 299}}},
            "tokenizer.train.vocab_size: must be at least 300, not 299 "
            "(the number of tokens, at least 300: 256 bytes, the end of text, and some merges)",
        ),
        (
            {"tokenizer": 8192},
            "tokenizer: must be a tokenizer.json, a hub name, {path: …, end_of_text: …} or {train: {…}}",
        ),
        (
            {"output": {"text": False}},
            "tokenizer: without a tokenizer and with output.text: false nothing would be written",
        ),
        (
            {"resources": {"shard_bytes": "12XB"}},
            "resources.shard_bytes: '12XB' is not a size; write bytes, or a number with one of "
            "GB, GiB, MB, MiB, kB, KiB, like 512MB",
        ),
        (
            {"resources": {"shard_bytes": 0}},
            "resources.shard_bytes: must be above 0, not 0 (how much of an input file one task reads, in bytes)",
        ),
        (
            {"seed": -1},
            "seed: must be at least 0, not -1 (a number from 0 to 2³² - 1; samples and permutations follow from it)",
        ),
        ({"output": None}, "output: must be a mapping of keys to values, not null ({path: runs/NAME})"),
    ],
)
def test_what_cannot_be(here, parts, message):
    assert error_of(**parts) == message


@pytest.mark.parametrize("name", ["readme.md", "tokenizer.json", "index.json"])
def test_names_of_files_beside_the_datasets(here, name):
    message = "readme.md, tokenizer.json, index.json are files beside the datasets' folders; give another name"
    assert error_of(datasets=[{"name": name, "path": "a"}]) == f"datasets[0].name: {message}"
    assert load_recipe(SMALL | {"name": name}).name == name


def test_paths_may_be_of_pathlib(here):
    keys = {"word_lists": {"sexual": "s.txt"}, "language": {"model": "m.ftz", "keep": ["en"]}, "tokenizer": "t.json"}
    as_text = SMALL | keys | {"datasets": [{"name": "a", "path": "a.jsonl"}], "output": {"path": "out"}}
    as_paths = as_text | {
        "datasets": [{"name": "a", "path": Path("a.jsonl")}],
        "word_lists": {"sexual": Path("s.txt")},
        "language": {"model": Path("m.ftz"), "keep": ["en"]},
        "tokenizer": Path("t.json"),
        "output": {"path": Path("out")},
    }
    assert load_recipe(as_paths) == load_recipe(as_text)
    assert load_recipe(as_paths, out=Path("other")) == load_recipe(as_text, out="other")
    assert load_recipe(Path(written(FULL))) == load_recipe("recipe.yaml")
    spec = {"path": Path("t.json"), "end_of_text": "</s>"}
    assert load_recipe(as_text | {"tokenizer": spec}).tokenizer.path == f"{here}/t.json"


@pytest.mark.parametrize("name", ["Blog", "a/b", "..", ".a", "-a", "", "a b", "é", "a\n"])
def test_names_that_are_no_folders(here, name):
    assert error_of(datasets=[{"name": name, "path": "a"}]).startswith("datasets[0].name: cannot be used as a name")


def test_files_that_are_no_recipe(here):
    assert errors("none.yaml") == ["none.yaml: the recipe cannot be read: No such file or directory"]
    message = "recipe.yaml:1: a recipe is a mapping of keys to values, with at least name and datasets"
    assert errors(written("")) == [message]
    assert errors(written("[1, 2]")) == [message]
    Path("latin.yaml").write_bytes("name: é".encode("latin-1"))
    (error,) = errors("latin.yaml")
    assert error.startswith("latin.yaml: the recipe is not UTF-8 text: ")
