import json
import math
import re
import string
import unicodedata
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals
from zydaflow.signals import SIGNALS, Resources

WITH_LISTS = ("rpv2.stop_word_fraction", "rpv2.bad_word_count")
NAMES = [name for name in SIGNALS if name.startswith("rpv2.") and name not in WITH_LISTS]
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    return unicodedata.normalize("NFD", " ".join(text.translate(NO_PUNCTUATION).lower().split()))


def over(part: float, whole: float) -> float:
    return part / whole if whole else 0


def of_pieces(text: str) -> dict[str, float]:
    pieces = re.findall(r"\w+|[^\w\s]+", text)
    return {
        "sentence_count": len(re.findall(r"\b[^.!?]+[.!?]*", text)),
        "symbol_to_word_ratio": over(sum(map(text.count, ("#", "...", "…"))), len(pieces)),
        "no_alphabetic_word_fraction": over(sum(not re.search("[a-zA-Z]", p) for p in pieces), len(pieces)),
        "all_caps_word_fraction": over(sum(map(str.isupper, pieces)), len(pieces)),
        "curly_bracket_fraction": over(text.count("{") + text.count("}"), len(text)),
        "uppercase_letter_fraction": over(sum(map(str.isupper, text)), len(text)),
    }


def of_lines(text: str) -> dict[str, float]:
    lines = text.removesuffix("\n").split("\n") if text else []
    normal = [normalised(line) for line in lines]
    return {
        "ellipsis_line_fraction": over(sum(line.rstrip().endswith(("...", "…")) for line in lines), len(lines)),
        "terminal_punctuation_line_fraction": over(
            sum(line.rstrip().endswith((".", "!", "?", "”")) for line in lines), len(lines)
        ),
        "bullet_line_fraction": over(sum(line.lstrip().startswith(tuple("•‣▶◀◦■□▪▫–")) for line in lines), len(lines)),
        "javascript_line_fraction": over(sum("javascript" in line.split() for line in normal), len(lines)),
        "words_per_line": over(sum(len(line.split()) for line in normal), len(lines)),
        "numerical_character_fraction": over(
            sum(c.isnumeric() for line in normal for c in line), sum(map(len, normal))
        ),
    }


def of_words(text: str) -> dict[str, float]:
    normal = normalised(text)
    words = normal.split()
    counts = Counter(words)
    return {
        "word_count": len(words),
        "mean_word_length": over(sum(map(len, words)), len(words)),
        "unique_word_fraction": over(len(counts), len(words)),
        "unigram_entropy": -sum(n / len(words) * math.log(n / len(words)) for n in counts.values()),
        "lorem_ipsum_fraction": over(normal.count("lorem ipsum"), len(normal)),
    }


def of_ngrams(text: str) -> dict[str, float]:
    words = normalised(text).split()
    characters = sum(map(len, words))
    values = {}
    for size in range(2, 11):
        grams = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
        counts = Counter(grams)
        gram, times = counts.most_common(1)[0] if grams else ((), 0)
        inside = {i + k for i, each in enumerate(grams) if counts[each] > 1 for k in range(size)}
        if size < 5:
            values[f"top_ngram_{size}_fraction"] = over(len("".join(gram)) * times, characters) if times > 1 else 0
        else:
            values[f"duplicate_ngram_{size}_fraction"] = over(sum(len(words[i]) for i in inside), characters)
    return values


def assert_defined(texts: list[str]) -> None:
    array = pa.array(texts, pa.large_string())
    rows = signals.measure(NAMES, array, array, Resources()).to_pylist()
    for row, text in zip(rows, texts, strict=True):
        twin = of_pieces(text) | of_lines(text) | of_words(text) | of_ngrams(text)
        assert row == pytest.approx({f"rpv2.{name}": value for name, value in twin.items()}, abs=1e-12)


WORDS = st.sampled_from(
    ["a", "the", "The", "É", "b.", "...", "lorem", "ipsum", "•", "\n", "\n", "{", "1", "σΣ", "javascript"]
)


@given(st.lists(st.lists(WORDS, max_size=60).map(" ".join), min_size=1, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_definitions(texts):
    assert_defined(texts)


@pytest.mark.parametrize("dataset", ["statutes", "code-a", "agency-blog"])
def test_real_documents(shared_data, dataset):
    file = shared_data / "corpus" / f"{dataset}.parquet"
    table = pq.read_table(file)
    texts = table["text" if "text" in table.column_names else "content"].to_pylist()
    assert_defined(texts[:60])


def test_many_languages(shared_data):
    lines = (shared_data / "corpus" / "udhr.jsonl").read_text(encoding="utf-8").split("\n")
    assert_defined([json.loads(line)["text"][:3000] for line in lines if line])
