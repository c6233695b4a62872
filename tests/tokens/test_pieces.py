"""A long document is encoded in pieces, and its ids are those of the whole."""

import random
from pathlib import Path

import numpy as np
import pytest
from conftest import SENTENCES, large
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from zydaflow.tokens import load, pieces
from zydaflow.tokens import tokenizer as tokenizing

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KINDS = {
    "gpt2": [pre_tokenizers.Split(Regex(GPT2), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)],
    "llama3": [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)],
    "words": [pre_tokenizers.Whitespace()],
    "lines": [
        pre_tokenizers.Split(Regex(r"[^\n]*\n|[^\n]+"), "isolated"),
        pre_tokenizers.ByteLevel(False, use_regex=False),
    ],
    "prefixed": [pre_tokenizers.ByteLevel(add_prefix_space=True)],
    "metaspace": [pre_tokenizers.Metaspace()],
    "fixed": [pre_tokenizers.FixedLength(5)],
}
CUT = {"gpt2", "llama3", "words"}


def _made(kind: str, folder: Path) -> str:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(KINDS[kind])
    tokenizer.add_special_tokens(["</s>", "<unk>"])
    tokenizer.add_tokens([AddedToken("    ", normalized=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["</s>", "<unk>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 5, trainer)
    path = folder / f"{kind}.json"
    tokenizer.save(str(path))
    return str(path)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("kinds")
    return {kind: _made(kind, folder) for kind in KINDS}


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pieces, tokenizing):
        monkeypatch.setattr(module, "PIECE_BYTES", 16)
    monkeypatch.setattr(pieces, "LOOK", 24)


WORDS = st.sampled_from(
    [
        "a",
        "b",
        "It's",
        "'s",
        "9",
        "1234",
        ".",
        ",\n",
        "\n",
        " ",
        "  ",
        "    ",
        "\t",
        "é",
        "e\u0301",
        "漢字",
        "。",
        "😀",
        "</s>",
    ]
)
LONG = st.lists(st.one_of(WORDS, st.text(max_size=4)), min_size=20, max_size=60).map("".join)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_have_the_ids_of_the_whole(paths: dict[str, str], kind: str) -> None:
    tokenizer = load(paths[kind])

    @settings(max_examples=30, derandomize=True, deadline=None)
    @given(st.lists(LONG, min_size=1, max_size=3))
    def same(texts: list[str]) -> None:
        ids, offsets = tokenizer._ids(texts)
        encoded = tokenizer.encode(large(texts))
        ends = encoded.offsets[1:] - 1
        assert np.array_equal(np.delete(encoded.ids, ends), ids)
        assert np.array_equal(encoded.offsets, offsets + np.arange(len(offsets)))

    same()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_cut(paths: dict[str, str], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose is in pieces where words are taken for themselves; else it is encoded whole."""
    seen: list[int] = []
    encode = tokenizing.encode
    text = " ".join(random.Random(1).choices(["word", "and", "other"], k=40_000))
    for module in (pieces, tokenizing):
        monkeypatch.setattr(module, "PIECE_BYTES", 50_000)
    monkeypatch.setattr(
        tokenizing, "encode", lambda f, r, texts: seen.append(max(map(len, texts))) or encode(f, r, texts)
    )
    tokenizer = load(paths[kind])
    seen.clear()
    encoded = tokenizer.encode(large(["short", text, "", text[:1000]]))
    assert max(seen) == len(text) if kind not in CUT else max(seen) < 50_100
    seen.clear()
    whole = [tokenizer._ids([part])[0].tolist() for part in ("short", text, "", text[:1000])]
    assert [
        encoded.ids[a : b - 1].tolist() for a, b in zip(encoded.offsets, encoded.offsets[1:], strict=False)
    ] == whole


def test_a_place_is_after_a_letter_and_before_a_space() -> None:
    text = "one two, drei Straße\nvier 漢字 😀 x".encode()
    places, start = [], 0
    while (start := pieces._place_after(memoryview(text), start + 1)) < len(text):
        places.append(text[:start].decode()[-3:])
    assert places == ["one", "rei", "aße", "ier", " 漢字"]


def test_added_tokens_across_places_forbid_cuts() -> None:
    token = {"content": "<mask>", "rstrip": True}
    plain = {"normalizer": None, "pre_tokenizer": {"type": "ByteLevel"}, "added_tokens": [token]}
    assert pieces.can_cut(plain)
    assert not pieces.can_cut(plain | {"added_tokens": [{"content": "to be", "rstrip": False}]})
    assert not pieces.can_cut(plain | {"added_tokens": [{"content": "mask", "rstrip": True}]})
    assert not pieces.can_cut(plain | {"pre_tokenizer": None})
    assert not pieces.can_cut(plain | {"normalizer": {"type": "Prepend", "prepend": "▁"}})
