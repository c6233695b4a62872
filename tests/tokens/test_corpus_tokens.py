"""Ids on real text: every document of the folder of real data, with the GPT-NeoX tokenizer that lies there."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tokenizers
import zstandard

from zydaflow.tokens import Tokenizer, load

FORMS = {
    "digitalgov": ("*.jsonl.zst", "text", 2500),
    "agency-blog.parquet": ("", "content", 552),
    "peps.jsonl.gz": ("", "raw_content", 703),
    "eips.jsonl": ("", "text", 949),
    "rust-rfcs": ("*.arrow", "text", 648),
    "statutes.parquet": ("", "text", 9000),
    "papers.jsonl.zst": ("", "text", 122),
    "news.jsonl": ("", "text", 295),
    "code-a.parquet": ("", "content", 889),
    "code-b.parquet": ("", "content", 894),
    "udhr.jsonl": ("", "text", 387),
}


def texts_of(file: Path, column: str) -> list[str]:
    if file.suffix == ".parquet":
        return pq.read_table(file, columns=[column])[column].to_pylist()
    if file.suffix == ".arrow":
        return pa.ipc.open_stream(file.read_bytes()).read_all()[column].to_pylist()
    content = file.read_bytes()
    if file.suffix == ".gz":
        content = gzip.decompress(content)
    elif file.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return [json.loads(line)[column] for line in content.split(b"\n") if line]


def documents(folder: Path, dataset: str) -> list[str]:
    pattern, column, count = FORMS[dataset]
    files = sorted((folder / dataset).glob(pattern)) if pattern else [folder / dataset]
    texts = [text for file in files for text in texts_of(file, column)]
    assert len(texts) == count
    return texts


@pytest.fixture(scope="module")
def neox(shared_data: Path) -> Tokenizer:
    return load(str(shared_data / "models" / "gpt-neox-20b-tokenizer.json"))


def differing(neox: Tokenizer, texts: list[str]) -> Iterator[int]:
    """Rows whose ids are not those of `tokenizers` and one end-of-text token."""
    reference = tokenizers.Tokenizer.from_file(str(neox.path))
    reference.encode_special_tokens = True
    encoded = neox.encode(pa.array(texts, pa.large_string()))
    assert np.count_nonzero(encoded.ids == neox.end_of_text) == len(texts)
    for start in range(0, len(texts), 64):
        for row, encoding in enumerate(reference.encode_batch_fast(texts[start : start + 64]), start):
            if encoded.ids[encoded.offsets[row] : encoded.offsets[row + 1]].tolist() != [*encoding.ids, 0]:
                yield row


def test_the_tokenizer(neox: Tokenizer) -> None:
    assert (neox.backend, neox.end_of_text_token, neox.end_of_text, neox.vocab_size, neox.dtype) == (
        "fastokens", "<|endoftext|>", 0, 50_277, np.uint16,
    )  # fmt: skip


@pytest.mark.parametrize("dataset", FORMS)
def test_ids_of_some_documents_are_those_of_tokenizers(neox: Tokenizer, shared_data: Path, dataset: str) -> None:
    texts = documents(shared_data / "corpus", dataset)
    assert list(differing(neox, sorted(texts[:: len(texts) // 20], key=len)[:15])) == []


@pytest.mark.slow
@pytest.mark.parametrize("dataset", FORMS)
def test_ids_of_all_documents_are_those_of_tokenizers(neox: Tokenizer, shared_data: Path, dataset: str) -> None:
    assert list(differing(neox, documents(shared_data / "corpus", dataset))) == []


def test_decoding_gives_the_text_after_the_tokenizers_own_normaliser(neox: Tokenizer, shared_data: Path) -> None:
    texts = documents(shared_data / "corpus", "udhr.jsonl")[:60] + documents(shared_data / "corpus", "news.jsonl")[:60]
    texts += ["a <|endoftext|> b", "</s><pad><|padding|>", "e\u0301"]
    encoded = neox.encode(pa.array(texts, pa.large_string()))
    reference = tokenizers.Tokenizer.from_file(str(neox.path))
    bounds = zip(encoded.offsets, encoded.offsets[1:] - 1, strict=False)
    decoded = [reference.decode(encoded.ids[a:b].tolist(), skip_special_tokens=False) for a, b in bounds]
    assert decoded == [reference.normalizer.normalize_str(text) for text in texts]


def test_token_counts_are_those_of_the_original_program(neox: Tokenizer, shared_data: Path) -> None:
    golden = [json.loads(line) for line in (shared_data / "golden" / "zyda_features.jsonl").open()]
    rows = [row for row in golden if row["dataset"] == "news"]
    texts = documents(shared_data / "corpus", "news.jsonl")
    encoded = neox.encode(pa.array([texts[row["row"]] for row in rows], pa.large_string()))
    assert (np.diff(encoded.offsets) - 1).tolist() == [row["n_tokens_neox"] for row in rows]
