"""The original Zyda program's values for real documents, to which ours are equal where the design does not differ."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from zydaflow import signals, transforms
from zydaflow.filters import judge, preset
from zydaflow.signals import Resources

TEXT_COLUMNS = {"peps": "raw_content", "agency-blog": "content", "code-a": "content", "code-b": "content"}
PATTERNS = {
    "xml": "xml",
    "<?xml version=": "xml_declaration",
    "lorem ipsum": "lorem_ipsum",
    "https://": "https",
    "<": "less_than",
    ">": "greater_than",
    '":': "quote_colon",
    "www.": "www",
}
LISTS = {
    "sexual_word_list.json": "sexual",
    "profanity_word_list.json": "profanity",
    "zh_pornsignals.json": "zh_pornsignals",
    "cursed_substrings.json": "cursed_substrings",
}

# Where the original's patterns were regular expressions by accident: (dataset, row) -> (ours, theirs).
WWW = {("agency-blog", 137): (9, 12), ("peps", 132): (2, 3), ("rust-rfcs", 562): (2, 3)}
CURSED = {
    ("peps", 6): (0, 1),
    ("peps", 16): (0, 5),
    ("peps", 74): (1, 8),
    ("peps", 203): (0, 5),
    ("peps", 245): (0, 1),
    ("peps", 315): (0, 2),
    ("peps", 654): (0, 7),
    ("eips", 82): (0, 5),
    ("eips", 281): (0, 22),
    ("eips", 379): (0, 8),
    ("eips", 530): (1, 2),
    ("eips", 734): (0, 6),
    ("eips", 805): (0, 21),
    ("eips", 847): (0, 5),
    ("rust-rfcs", 208): (0, 2),
    ("rust-rfcs", 299): (0, 1),
    ("rust-rfcs", 320): (0, 3),
    ("rust-rfcs", 332): (1, 3),
    ("rust-rfcs", 372): (0, 1),
    ("rust-rfcs", 646): (0, 3),
    ("statutes", 2513): (0, 1),
    ("code-a", 120): (0, 3),
    ("code-a", 506): (0, 1),
    ("code-a", 545): (0, 29),
    ("code-a", 548): (0, 8),
    ("code-a", 610): (0, 5),
    ("code-b", 122): (0, 3),
    ("code-b", 164): (0, 8),
    ("code-b", 553): (0, 8),
    ("code-b", 616): (0, 5),
    ("code-b", 813): (0, 51),
    ("udhr", 9): (0, 1),
    ("udhr", 338): (0, 1),
    ("udhr", 383): (0, 3),
}


def _texts(corpus: Path, dataset: str) -> list[str]:
    column = TEXT_COLUMNS.get(dataset, "text")
    (path,) = corpus.glob(f"{dataset}*")
    files = sorted(file for file in path.iterdir() if file.suffix != ".json") if path.is_dir() else [path]
    return [text for file in files for text in _column(file, column)]


def _column(file: Path, column: str) -> list[str]:
    if file.suffix == ".parquet":
        return pq.read_table(file)[column].to_pylist()
    if file.suffix == ".arrow":
        with pa.memory_map(str(file)) as source:
            return pa.ipc.open_stream(source).read_all()[column].to_pylist()
    content = file.read_bytes()
    if file.suffix == ".gz":
        content = gzip.decompress(content)
    if file.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return [json.loads(line)[column] for line in content.split(b"\n") if line.strip()]


@pytest.fixture(scope="module")
def golden(shared_data):
    """The expected values, and the table of ours, row by row."""
    lines = (shared_data / "golden" / "zyda_features.jsonl").read_text(encoding="utf-8").split("\n")
    expected = [json.loads(line) for line in lines if line]
    texts = {name: _texts(shared_data / "corpus", name) for name in {row["dataset"] for row in expected}}
    raw = pa.array([texts[row["dataset"]][row["row"]] for row in expected], pa.large_string())
    transformed = transforms.apply(["zyda"], raw)
    files = {name: str(shared_data / "wordlists" / file) for file, name in LISTS.items()}
    resources = Resources(tuple(files[name] for name in signals.resources.WORD_LISTS))
    names = [name for name in signals.SIGNALS if name.startswith("zyda.")]
    return expected, transformed, signals.measure(names, raw, transformed, resources)


def test_all_golden_documents_are_compared(golden):
    assert len(golden[0]) == 1316


def test_transformed_text(golden):
    expected, transformed, _ = golden
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in transformed.to_pylist()]
    assert hashes == [row["transformed_sha256"] for row in expected]


@pytest.mark.parametrize("name", ["transformed_length", "substrings_counts", "pii_count"])
def test_integers(golden, name):
    expected, _, table = golden
    assert table[f"zyda.{name}"].to_pylist() == [row[name] for row in expected]


@pytest.mark.parametrize("name", ["mean_word_length", "fraction_non_alphanumeric", "fraction_numerical"])
def test_fractions(golden, name):
    expected, _, table = golden
    np.testing.assert_allclose(table[f"zyda.{name}"].to_numpy(), [row[name] for row in expected], rtol=0, atol=1e-12)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_counts(golden, pattern):
    expected, _, table = golden
    ours, theirs = (
        table[f"zyda.pattern_counts.{PATTERNS[pattern]}"],
        [row["pattern_counts"][pattern] for row in expected],
    )
    assert _differences(expected, ours.to_pylist(), theirs) == (WWW if pattern == "www." else {})


@pytest.mark.parametrize("file", LISTS)
def test_word_list_counts(golden, file):
    expected, _, table = golden
    ours = table[f"zyda.word_list_counts.{LISTS[file]}"]
    theirs = [row["word_list_counts"][file] for row in expected]
    assert _differences(expected, ours.to_pylist(), theirs) == (CURSED if LISTS[file] == "cursed_substrings" else {})


def test_fractions_over_the_transformed_length(golden):
    expected, _, table = golden
    lengths = np.array([row["transformed_length"] for row in expected])
    fractions = [name for name in table.schema.names if "_fraction." in name]
    assert len(fractions) == 7
    for name in fractions:
        counts = table[name.replace("_fraction.", "_counts.")].to_numpy()
        np.testing.assert_allclose(table[name].to_numpy(), counts / lengths, rtol=0, atol=1e-12)


def test_verdicts(golden):
    expected, _, table = golden
    kept = ~judge(table, preset("zyda").rules).any(axis=1)
    assert kept.tolist() == [row["kept"] for row in expected]
    assert 0 < kept.sum() < len(kept)


def _differences(expected, ours, theirs):
    rows = [(row["dataset"], row["row"]) for row in expected]
    return {row: (our, their) for row, our, their in zip(rows, ours, theirs, strict=True) if our != their}
