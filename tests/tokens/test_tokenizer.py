import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers, trainers

from zydaflow.errors import InputError, RunError
from zydaflow.recipe import TokenizerSpec
from zydaflow.tokens import Encoded, check_sample, load

PAGES = ["plain", "", "a <|endoftext|> b</s><pad>", "<|endoftext|>", "  deep\n        indent", "漢字 é e\u0301", "\x00"]


def large(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def documents(encoded: Encoded) -> list[list[int]]:
    return [encoded.ids[a:b].tolist() for a, b in zip(encoded.offsets, encoded.offsets[1:], strict=False)]


def reference(path: Path) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return tokenizer


def test_ids_are_those_of_tokenizers_and_each_document_ends_once(trained: Path) -> None:
    tokenizer = load(str(trained))
    encoded = tokenizer.encode(large(PAGES))
    slow = reference(trained)
    assert documents(encoded) == [[*slow.encode(page, add_special_tokens=False).ids, 0] for page in PAGES]
    assert (tokenizer.backend, tokenizer.note, tokenizer.end_of_text, tokenizer.end_of_text_token) == (
        "fastokens",
        "",
        0,
        "<|endoftext|>",
    )
    assert encoded.ids.dtype == tokenizer.dtype == np.uint16
    assert encoded.offsets.dtype == np.int64


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.text(max_size=8),
                st.sampled_from(["<|endoftext|>", "<|endoftext", "|>", "</s>", "  ", "\n\n", "'ll", "Straße", "123"]),
            ),
            max_size=8,
        ).map("".join),
        max_size=5,
    )
)
def test_any_text_gives_the_ids_of_tokenizers(trained: Path, pages: list[str]) -> None:
    encoded = load(str(trained)).encode(large(pages))
    slow = reference(trained)
    assert documents(encoded) == [[*slow.encode(page, add_special_tokens=False).ids, 0] for page in pages]
    assert [slow.decode(ids[:-1], skip_special_tokens=False) for ids in documents(encoded)] == pages


def test_a_slice_of_texts_and_no_texts(trained: Path) -> None:
    tokenizer = load(str(trained))
    assert documents(tokenizer.encode(large(PAGES).slice(2, 2))) == documents(tokenizer.encode(large(PAGES[2:4])))
    empty = tokenizer.encode(large([]))
    assert (empty.ids.tolist(), empty.offsets.tolist(), empty.ids.dtype) == ([], [0], np.uint16)


def test_control_tokens_in_a_page_are_text_to_models_that_look_words_up(looks_words_up: Path) -> None:
    tokenizer = load(str(looks_words_up))
    assert tokenizer.backend == "tokenizers"
    assert "fastokens" in tokenizer.note
    pages = ["It's a small text", "a </s> b <pad> c", "</s>", "x</s></s>y", "lines </s>\n"]
    encoded = tokenizer.encode(large(pages))
    plain = tokenizers.Tokenizer.from_file(str(looks_words_up))
    ends, pad = plain.token_to_id("</s>"), plain.token_to_id("<pad>")
    assert (encoded.ids == ends).nonzero()[0].tolist() == (encoded.offsets[1:] - 1).tolist()
    assert pad not in encoded.ids
    assert documents(encoded)[0] == [*plain.encode(pages[0], add_special_tokens=False).ids, ends]
    assert tokenizer.vocab_size == plain.get_vocab_size()


def test_an_end_of_text_token_made_of_ordinary_text_is_refused(trained: Path) -> None:
    with pytest.raises(InputError, match=r"'e' cannot end documents.*end_of_text"):
        load(TokenizerSpec(path=str(trained), end_of_text="e"))


def test_an_end_of_text_token_that_stands_for_unknown_text_is_refused(looks_words_up: Path) -> None:
    with pytest.raises(InputError, match=r"'<unk>' cannot end documents.*end_of_text"):
        load(TokenizerSpec(path=str(looks_words_up), end_of_text="<unk>"))


def test_an_end_of_text_token_of_the_vocabulary_alone_is_text_in_a_page(tmp_path: Path) -> None:
    """fastokens takes a whole text from the vocabulary where its letters are not in there; tokenizers does not."""
    slow = tokenizers.Tokenizer(models.BPE({"<unk>": 0, "a": 1, " ": 2, "/": 3, "</s>": 4}, [], unk_token="<unk>"))
    slow.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(str(tmp_path))
    assert (tokenizer.backend, tokenizer.end_of_text) == ("tokenizers", 4)
    assert "differs on '</s>'" in tokenizer.note
    assert documents(tokenizer.encode(large(["</s>", "a"]))) == [[0, 3, 0, 0, 4], [1, 4]]


def strip(trained: Path, folder: Path) -> Path:
    """A tokenizer whose normaliser leaves nothing of an added token: `tokenizers` panics at characters beyond ASCII."""
    definition = json.loads(trained.read_text())
    definition["normalizer"] = {"type": "Strip", "strip_left": True, "strip_right": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    definition["added_tokens"].append({"id": 400, "content": "  ", "normalized": True, **flags})
    path = folder / "strip.json"
    path.write_text(json.dumps(definition))
    return path


def test_a_tokenizer_that_panics_is_refused_when_it_is_loaded(trained: Path, tmp_path: Path) -> None:
    path = strip(trained, tmp_path)
    with pytest.raises(InputError, match=r"strip\.json fails on a batch of trial texts.*begins '.*: it panicked: "):
        load(str(path))


def test_a_tokenizer_that_cannot_encode_unknown_text_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    tokenizers.Tokenizer(models.WordLevel({"a": 0, "</s>": 1}, unk_token="?")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=r"fails on a batch of trial texts.*WordLevel error: Missing"):
        load(str(tmp_path))


@pytest.mark.parametrize("row", [0, 63, 64, 417, 999])
def test_a_text_at_which_the_library_panics_is_named(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int
) -> None:
    monkeypatch.setattr("zydaflow.tokens.tokenizer.PROBES", ())
    tokenizer = load(str(strip(trained, tmp_path)))
    texts = [f"page number {n}" for n in range(1000)]
    assert len(tokenizer.encode(large(texts)).offsets) == 1001
    texts[row] = "😀 and so on"
    with pytest.raises(RunError, match=rf"cannot encode document {row} of this batch, which begins '😀 and so on': "):
        tokenizer.encode(large(texts))


def test_an_added_token_that_is_not_flagged_as_special_can_end_documents(trained: Path, tmp_path: Path) -> None:
    definition = json.loads(trained.read_text())
    definition["added_tokens"][0]["special"] = False
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(definition))
    assert documents(load(str(path)).encode(large(PAGES))) == documents(load(str(trained)).encode(large(PAGES)))


def test_truncation_and_padding_of_the_file_are_not_applied(trained: Path, tmp_path: Path) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(trained))
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=10)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    page = ["a long enough text of many tokens", "b"]
    assert documents(load(str(tmp_path)).encode(large(page))) == documents(load(str(trained)).encode(large(page)))


def test_dropout_is_refused(trained: Path, tmp_path: Path) -> None:
    definition = json.loads(trained.read_text())
    definition["model"]["dropout"] = 0.1
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition))
    with pytest.raises(InputError, match="dropout"):
        load(str(tmp_path))


@pytest.mark.parametrize(("size", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_ids_have_16_bits_where_every_id_fits(tmp_path: Path, size: int, dtype: type) -> None:
    words = ["</s>", *(f"word{n}" for n in range(1, size))]
    slow = tokenizers.Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="word1"))
    slow.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    slow.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(str(tmp_path))
    assert (tokenizer.vocab_size, tokenizer.dtype) == (size, dtype)
    assert tokenizer.encode(large([words[-1], "?"])).ids.tolist() == [size - 1, 0, 1, 0]


def test_the_fingerprint_changes_with_content_and_end_of_text(trained: Path, tmp_path: Path) -> None:
    first = load(str(trained)).fingerprint
    assert sorted(first) == ["end_of_text", "fastokens", "tokenizers", "xxh3"]
    copy = tmp_path / "copy.json"
    copy.write_bytes(trained.read_bytes())
    assert load(str(copy)).fingerprint == first
    copy.write_bytes(trained.read_bytes() + b"\n")
    assert load(str(copy)).fingerprint != first


def test_a_sample_that_differs_is_an_error_that_names_the_document(trained: Path) -> None:
    tokenizer = load(str(trained))
    texts = large([f"page number {n}" for n in range(100)])
    encoded = tokenizer.encode(texts)
    check_sample(tokenizer, texts, encoded, 100)
    ids = encoded.ids.copy()
    ids[encoded.offsets[99]] ^= 1
    check_sample(tokenizer, texts.slice(0, 99), Encoded(ids, encoded.offsets[:-1]), 99)
    with pytest.raises(RunError, match="document 99 of this batch, which begins 'page number 99'"):
        check_sample(tokenizer, texts, Encoded(ids, encoded.offsets), 3)
    check_sample(tokenizer, large([]), tokenizer.encode(large([])), 3)


def test_a_text_beyond_the_fast_library_is_read_by_the_slow_one(tmp_path: Path) -> None:
    """This expression needs a stack that PCRE2 does not have for 500,000 words; Oniguruma reads it."""
    slow = tokenizers.Tokenizer(models.BPE())
    words = pre_tokenizers.Split(Regex(r"(?:\w+\s?)+|\W+"), "isolated")
    slow.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(False, use_regex=False)])
    slow.train_from_iterator(["x y z"], trainers.BpeTrainer(special_tokens=["</s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))  # fmt: skip
    slow.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(str(tmp_path))
    assert tokenizer.backend == "fastokens"
    pages = ["x", " x" * 50_000, "y"]
    with pytest.raises(ValueError, match="stack"):
        tokenizer._fast.encode_batch_flat(pages)
    expected = [[*slow.encode(page, add_special_tokens=False).ids, 0] for page in pages]
    assert documents(tokenizer.encode(large(pages))) == expected


LONG = {
    "no space": "a" * 3_000_000,
    "no space, of digits": "0123456789" * 300_000,
    "rules": "=" * 3_000_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "combining": "a" + "\u0301" * 300_000,
}


@pytest.mark.parametrize("name", LONG)
def test_long_runs_take_bounded_time(trained: Path, name: str) -> None:
    text = LONG[name]
    begin = time.perf_counter()
    encoded = load(str(trained)).encode(large([text]))
    assert time.perf_counter() - begin < 10  # 0.1 to 1 s here; the square of it would be hours
    assert reference(trained).decode(encoded.ids[:-1].tolist()) == text


def test_memory_stays_level_over_distinct_documents(trained: Path) -> None:
    """2,000 distinct documents of 100 KB: once the library's cache is full, memory does not grow."""
    program = f"""
import os
os.environ["RAYON_NUM_THREADS"] = "1"
import numpy as np, psutil, pyarrow as pa
from zydaflow.tokens import load
tokenizer, random, levels = load({str(trained)!r}), np.random.default_rng(0), []
for _ in range(20):
    for _ in range(10):
        letters = random.integers(97, 123, 1_000_000, np.uint8)
        letters[random.random(1_000_000) < 0.15] = 32
        bounds = pa.py_buffer(np.arange(0, 1_000_001, 100_000))
        tokenizer.encode(pa.LargeStringArray.from_buffers(10, bounds, pa.py_buffer(letters)))
    levels.append(psutil.Process().memory_info().rss >> 20)
print(levels[7], levels[-1])
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    early, late = map(int, out.stdout.split())
    assert late < early + 32  # MB, over 1,200 documents, which hold 120 MB of text
