"""Scripts that are written without spaces: near-duplicates are found, and unrelated texts stay."""

import json
from pathlib import Path

import numpy as np
import pytest
from inmemory import Spec, dedup

SCRIPTS = {
    "Han": (0x4E00, 0x9FA5),
    "Han beyond U+FFFF": (0x20000, 0x2A6DF),
    "kana": (0x3041, 0x3093),
    "Thai": (0x0E01, 0x0E4E),
    "Lao": (0x0EC0, 0x0ECD),
    "Khmer": (0x1780, 0x17D2),
    "Myanmar": (0x1000, 0x103E),
    "Tibetan": (0x0F40, 0x0FBC),
    "Yi": (0xA000, 0xA48C),
}
UDHR = ["cmn_hans", "jpn", "tha", "lao", "khm", "mya", "bod", "iii"]


def vocabulary(rng: np.random.Generator, first: int, last: int) -> list[str]:
    """2,000 words of one to four characters of a script."""
    return ["".join(map(chr, rng.integers(first, last + 1, n))) for n in rng.integers(1, 5, 2000)]


def prose(rng: np.random.Generator, words: list[str], n: int) -> str:
    """n words by Zipf's law, without a space or a full stop."""
    return "".join(words[rank] for rank in np.minimum(rng.zipf(1.3, n) - 1, len(words) - 1))


def changed(text: str, every: int) -> str:
    """The text with one of so many characters left out."""
    return "".join(c for i, c in enumerate(text) if i % every != every // 2)


@pytest.mark.parametrize("verify", ["exact", "signature"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_copies_go_and_unrelated_texts_stay(script: str, verify: str) -> None:
    rng = np.random.default_rng(7)
    words = vocabulary(rng, *SCRIPTS[script])
    texts = [prose(rng, words, 200) for _ in range(20)]
    copies = [changed(text, 60) for text in texts]
    result = dedup({"a": texts, "b": copies}, Spec(verify=verify))
    assert result.lost == {f"b/{i}": f"a/{i}" for i in range(20)}


@pytest.mark.parametrize("script", SCRIPTS)
def test_short_texts_that_differ_stay(script: str) -> None:
    first, _ = SCRIPTS[script]
    texts = [chr(first) * n for n in range(1, 12)]
    assert dedup({"a": texts}, Spec(verify="exact")).lost == {}


def test_one_language_in_another() -> None:
    """Latin words among characters are words, and the spaces that people put between the two make no difference."""
    close, apart = "用Python写的程序可以在GPU上运行而且速度很快", "用 Python 写的程序可以在 GPU 上运行 而且速度很快"
    result = dedup({"a": [close], "b": [apart]}, Spec(verify="exact"))
    assert result.lost == {"b/0": "a/0"}
    assert result.n_words.tolist() == [19, 19]


@pytest.fixture(scope="module")
def declarations(shared_data: Path) -> dict[str, str]:
    """The Universal Declaration of Human Rights, by language."""
    with (shared_data / "corpus" / "udhr.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines]
    return {Path(row["id"]).stem: row["text"] for row in rows}


def test_no_two_languages_are_duplicates(declarations: dict[str, str]) -> None:
    """Except one language in two spellings or under two names."""
    names = list(declarations)
    lost = dedup({"a": list(declarations.values())}, Spec(verify="exact")).lost
    pairs = {names[int(gone[2:])]: names[int(kept[2:])] for gone, kept in lost.items()}
    assert pairs == {
        "deu_1901": "deu",
        "hau_NG": "hau_NE",
        "kng": "ktu",
        "prq": "cbs",
        "ron_1953": "ron",
        "ron_1993": "ron",
    }


@pytest.mark.parametrize("language", UDHR)
def test_passages_of_one_text(declarations: dict[str, str], language: str) -> None:
    text = "".join(declarations[language].split())
    size = len(text) // 20
    passages = [text[i * size : (i + 1) * size] for i in range(20)]
    result = dedup({"a": passages, "b": [changed(passage, 60) for passage in passages]}, Spec(verify="exact"))
    assert result.lost == {f"b/{i}": f"a/{i}" for i in range(20)}
