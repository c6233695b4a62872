"""Normalisation, shingles and their hashes, against Python on any text."""

import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import Shingle
from twins import TEXTS, shingles, words

from zydaflow.dedup import normalise as module
from zydaflow.dedup.normalise import prepare, tables
from zydaflow.dedup.shingles import shingle_hash, shingle_hash32, shingle_sets
from zydaflow.kernels.normalise import APART, normalise, room
from zydaflow.kernels.shingles import hash_texts
from zydaflow.kernels.text import from_arrow

UNITS = ["word", "character"]


def normalised(text: str, unit: str = "word") -> str:
    """What the kernel makes of one text."""
    ready = prepare(pa.array([text], pa.large_string()))
    out = np.empty(room(len(ready.data)), np.uint8)
    length = normalise(ready.data, ready.offsets[0], ready.offsets[1], tables().letters(unit == "word"), out)
    return out[:length].tobytes().decode()


@settings(derandomize=True, max_examples=500, deadline=None)
@given(TEXTS, st.sampled_from(UNITS))
def test_normalisation_is_pythons(text: str, unit: str) -> None:
    assert normalised(text, unit) == " ".join(words(text, unit))


@pytest.mark.parametrize("unit", UNITS)
def test_every_code_point_alone_and_among_others(unit: str) -> None:
    points = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cs", "Cn", "Co")]
    texts = [f"{c} Ae{c}Σ{c}" if c in "Σσ" else f"{c} Ae{c}a{c}" for c in points]
    sets = shingle_sets(pa.array(texts, pa.large_string()), Shingle(unit, 99))
    expected = from_arrow(pa.array([" ".join(words(text, unit)) for text in texts], pa.large_string()))
    hashes = np.empty(len(texts), np.uint64)
    hash_texts(expected.data, expected.offsets, hashes)
    assert sets.hashes.tolist() == hashes.tolist()


def test_every_unmarked_code_point_leaves_its_neighbours_alone() -> None:
    """After any starter, a character that is not marked neither composes nor is reordered."""
    unmarked = [chr(c) for c in np.flatnonzero(~tables().contextual).tolist() if not 0xD800 <= c < 0xE000]
    text = "".join(unmarked)
    assert unicodedata.is_normalized("NFC", text)
    assert len(text.lower()) == len(text)


def test_a_long_text_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ΟΔΟΣ e\u0301 ΣΑΣ\u0301 \u0301 a\u0323\u0301 " * 20
    monkeypatch.setattr(module, "_PIECE", 7)
    assert normalised(text) == " ".join(words(text, "word"))


def test_the_examples_of_the_rule() -> None:
    assert normalised("“Don’t” — stop‑it, NOW!") == "dont stopit now"
    assert normalised("a - b") == "a b"
    assert normalised("  \u2003 !!! \n") == ""


def test_the_examples_of_scripts_without_spaces() -> None:
    assert normalised("我爱Python3，你呢？") == "我 爱 python3， 你 呢 ？"
    assert normalised("カ\u3099ード card") == "ガ ー ド card"  # NFC first
    assert normalised("ที่นี่") == "ท ี ่ น ี ่"  # vowels and tones are characters
    assert normalised("𠮷野家-2") == "𠮷 野 家 2"
    assert normalised("한국어 문장") == "한국어 문장"
    assert normalised("我爱 Python", "character") == "我爱 python"


@pytest.mark.parametrize("unit", UNITS)
def test_characters_at_any_place_among_ascii(unit: str) -> None:
    for special in ("Ⱥ", " 東é", "e\u0301", "\u3000", "—"):
        for before in (*range(20), *range(120, 136), 300):
            text = ("x-1, " * before)[:before] + special + "y  " * 100 + special
            assert normalised(text, unit) == " ".join(words(text, unit))


def test_the_normal_form_has_room() -> None:
    for text in ("a我", "Ⱥ我", "我", "𠮷", "a𠮷", "Ⱥ", "Ⱥ ", "x"):
        for length in range(1, 9):
            long = text * length
            assert len(normalised(long).encode()) + 1 <= room(len(long.encode()))


def test_scripts_without_spaces_by_the_names_of_their_characters() -> None:
    apart = ("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "BOPOMOFO LETTER", "YI SYLLABLE", "TAI ", "NEW TAI ")
    apart += ("THAI CHARACTER ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ")
    among = ("LATIN ", "GREEK ", "CYRILLIC ", "ARABIC ", "HEBREW ", "DEVANAGARI ", "TAMIL ", "HANGUL ", "ETHIOPIC ")
    letters = tables().letters(by_word=True)
    for point in range(sys.maxunicode + 1):
        name = unicodedata.name(chr(point), "")
        if name.startswith(apart) and "CURRENCY" not in name:
            assert letters[point] == point | APART, name
        if name.startswith(among):
            assert letters[point] < APART, name


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.sampled_from(UNITS), st.integers(1, 6))
def test_sets_hold_the_hashes_of_the_shingles(texts: list[str], unit: str, size: int) -> None:
    sets = shingle_sets(pa.array(texts, pa.large_string()), Shingle(unit, size))
    assert len(sets.starts) == len(sets.stops) == len(texts)
    for i, text in enumerate(texts):
        expected = sorted({shingle_hash(s.encode()) for s in shingles(text, unit, size)})
        assert sets.hashes[sets.starts[i] : sets.stops[i]].tolist() == expected


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("size", [1, 13, 1500])
def test_texts_longer_than_a_block(unit: str, size: int) -> None:
    rng = np.random.default_rng(5)
    counts = [1, 1023, 1024, 1025, 1499, 1500, 1501, 2048, 2049]
    texts = [" ".join(map(str, rng.integers(0, 9, count))) for count in counts]
    texts += ["x" * count for count in (*counts, 3000)] + ["x" + "é" * 1500, "xy" + "漢" * 1100, "é " * 700]
    sets = shingle_sets(pa.array(texts, pa.large_string()), Shingle(unit, size))
    for i, text in enumerate(texts):
        expected = sorted({shingle_hash(s.encode()) for s in shingles(text, unit, size)})
        assert sets.hashes[sets.starts[i] : sets.stops[i]].tolist() == expected


def test_a_slice_of_an_array_and_an_empty_one() -> None:
    texts = pa.array(["zero", "one two", "ΣΑΣ", "four"], pa.large_string())
    sets = shingle_sets(texts[1:3], Shingle("word", 1))
    assert (sets.starts.tolist(), sets.stops.tolist()) == ([0, 2], [2, 3])
    assert sets.hashes[2] == shingle_hash("σας".encode())
    assert shingle_sets(texts[:0], Shingle("word", 1)).starts.tolist() == []


def test_the_hash_is_a_fixed_function_of_the_bytes() -> None:
    assert shingle_hash(b"") == 0
    assert shingle_hash(b"\0") != shingle_hash(b"\0\0")
    assert shingle_hash(b"to be or not to be") == 0xEAFF0E5D21194505
    assert shingle_hash32(b"to be or not to be") == 0xCBE64B58


def test_hashes_spread() -> None:
    """64 bits: among 200,000 strings that differ by little, none collide, and every bit is set in half of them."""
    hashes = np.array([shingle_hash(f"page {i}".encode()) for i in range(200_000)], np.uint64)
    assert len(np.unique(hashes)) == len(hashes)
    for bit in range(64):
        assert 0.49 < ((hashes >> np.uint64(bit)) & np.uint64(1)).mean() < 0.51
