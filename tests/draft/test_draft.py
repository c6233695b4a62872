import json

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.draft import draft_recipe, init
from zydaflow.draft.survey import inspect_paths
from zydaflow.errors import InputError
from zydaflow.recipe import load_recipe
from zydaflow.sources import plan_dataset


def loaded(text: str, tmp_path):
    file = tmp_path / "drafted.yaml"
    file.write_text(text, encoding="utf-8")
    return load_recipe(file)


def write(path, *rows: dict) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_whole_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    row = {"doc_id": 1, "content": "A  long\ntext: " + "x" * 100, "URL": "u", "date": None, "licence": "MIT"}
    write(tmp_path / "data" / "blog.jsonl", row, row, row)
    write(tmp_path / "data" / "notes.jsonl", {"title": "Short", "note": "Somewhat longer"}, {"title": "T", "note": "N"})
    write(tmp_path / "data" / "numbers.jsonl", {"n": 1})
    assert init(["data"], "Two blogs") == (
        f"""\
# A recipe for zydaflow, drafted from the first records of each dataset: check the order, the columns and the licences.
name: two-blogs

# In rank order, the best first: of several copies of a document, the one in the first dataset stays.
datasets:
  # jsonl, 1 file, 0.0 MB; columns: doc_id number, content string, URL string, date null, licence string
  #   A long text: {"x" * 76}…
  #   A long text: {"x" * 76}…
  - name: blog
    path: data/blog.jsonl
    text: content
    id: doc_id
    metadata: [URL, date]
    license: {{column: licence}}
  # jsonl, 1 file, 0.0 MB; columns: title string, note string
  #   Somewhat longer
  #   N
  - name: notes
    path: data/notes.jsonl
    text: note  # a guess: the column with the longest texts
  # jsonl, 1 file, 0.0 MB; columns: n number
  # left out, since no column holds text in its first records: data/numbers.jsonl

# Rule sets and rules; a dataset may have its own, like filters: [] for source code.
filters: [zyda]

dedup:
  shingle: {{unit: word, size: 13}}
  threshold: 0.4              # the similarity from which a document counts as a duplicate
  passes: [within, across]    # inside each dataset, and between them
  verify: signature           # or exact: slower, and free of chance

# A tokenizer.json, a hub name, or one that is trained on the kept text.
tokenizer: {{train: {{vocab_size: 8192}}}}

output: {{path: runs/two-blogs}}
"""
    )


def test_the_draft_loads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", {"raw_content": "text", "id": "x"})
    recipe = loaded(init(["a.jsonl"]), tmp_path)
    (dataset,) = recipe.datasets
    assert (recipe.name, recipe.filters, recipe.output.text) == ("a", ("zyda",), True)
    assert (dataset.name, dataset.text, dataset.id, dataset.license) == ("a", "raw_content", "id", None)
    assert recipe.dedup == load_recipe({"name": "a", "datasets": [{"name": "a", "path": "a"}]}).dedup


def test_splits_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset = datasets.Dataset.from_dict({"text": ["a"]})
    datasets.DatasetDict({"train": dataset, "dev": dataset, "test": dataset}).save_to_disk("splits")
    text = init(["splits"])
    assert "    split: train  # there are also: dev, test\n" in text
    assert loaded(text, tmp_path).datasets[0].split == "train"


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"title": "longer than the text", "text": "t"}, "text"),
        ({"content": "longer than the text", "text": "t"}, "text"),
        ({"Text": "t", "body": "longer than the text"}, "Text"),
        ({"text": 5, "body": "b", "summary": "longer than the body"}, "body"),
        ({"a": "short", "b": "long text", "c": "c"}, "b"),
    ],
)
def test_the_text_column_goes_by_name_and_then_by_length(tmp_path, row, text):
    assert loaded(init([write(tmp_path / "a.jsonl", row)]), tmp_path).datasets[0].text == text


def test_the_sources_find_the_files_that_were_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [
        "web/train-0.jsonl",
        "web/train-1.jsonl",
        "web/test.jsonl",
        "blog/a-1/x.jsonl",
        "blog/a-2/y/z.jsonl",
        "[n] 1.jsonl",
    ]
    for name in names:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, {"text": "t"})
    datasets.Dataset.from_dict({"text": ["a", "b"]}).save_to_disk("data/saved", num_shards=2)
    datasets.DatasetDict({"train": datasets.Dataset.from_dict({"text": ["a"]})}).save_to_disk("data/splits")
    findings = inspect_paths(["data"])
    recipe = loaded(draft_recipe(findings, "x"), tmp_path)
    planned = {dataset.name: len(plan_dataset(dataset, 2**20).files) for dataset in recipe.datasets}
    assert planned == {"n-1": 1, "blog": 2, "saved": 2, "splits": 1, "web-test": 1, "web-train": 2}
    assert planned == {finding.name: finding.files for finding in findings}


def test_nothing_with_text(tmp_path):
    path = write(tmp_path / "a.jsonl", {"n": 1})
    with pytest.raises(InputError) as caught:
        init([path])
    assert str(caught.value) == (
        f"{path}: no column of text in the first records; there is nothing to build a corpus from"
    )


ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
TRICKY = st.sampled_from(
    ["no", "1e3", "2024", "null", "a: b", "#", "]", "a, b", "\n", "\u2028", "'", '"', "\x00", "{x}"]
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.dictionaries(ANY | TRICKY, ANY | TRICKY, min_size=1, max_size=3), st.integers(0, 9999), ANY)
def test_any_columns_texts_and_names_give_a_recipe_that_loads(tmp_path_factory, row, number, name):
    folder = tmp_path_factory.mktemp("draft") / f"data, [{number}]: #1"
    folder.mkdir()
    path = write(folder / f"{number}.jsonl", row)
    recipe = loaded(init([path], name), folder)
    assert recipe.datasets[0].path == path
    assert recipe.datasets[0].text in row


def test_real_data(shared_data, tmp_path):
    recipe = loaded(init([str(shared_data / "corpus")]), tmp_path)
    columns = {dataset.name: (dataset.text, dataset.id) for dataset in recipe.datasets}
    assert columns == {
        "agency-blog": ("content", None),
        "code-a": ("content", None),
        "code-b": ("content", None),
        "digitalgov": ("text", "id"),
        "eips": ("text", "id"),
        "news": ("text", "id"),
        "papers": ("text", "id"),
        "peps": ("raw_content", "doc_id"),
        "rust-rfcs": ("text", "id"),
        "statutes": ("text", "id"),
        "udhr": ("text", "id"),
    }
    assert recipe.datasets[0].metadata == ("url", "date")
