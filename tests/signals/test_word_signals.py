"""Signals over words against their definition, in obvious Python."""

import string
from collections import Counter
from statistics import median

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals
from zydaflow.signals import SIGNALS, Resources
from zydaflow.signals.gopher_words import STOP_WORDS

SUFFIXES = (".unicode", ".script")
NAMES = [
    name
    for name in SIGNALS
    if name.startswith(("gopher.", "dolma.")) and not name.endswith(SUFFIXES) and ("word" in name or "ngram" in name)
]
CHARACTERS = st.one_of(
    st.sampled_from([*" \n.#…_5éß中²Ⅷ", "...", " the ", " of ", " be be ", " a b "]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=1),
)
TEXTS = st.lists(st.lists(CHARACTERS, max_size=40).map("".join), max_size=4)


def over(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0


def of_words(text: str) -> dict[str, float]:
    words = text.split()
    full = [word for word in words if any(map(str.isalnum, word))]
    return {
        "gopher.word_count": len(full),
        "gopher.mean_word_length": over(sum(map(len, full)), len(full)),
        "gopher.hash_to_word_ratio": over(text.count("#"), len(words)),
        "gopher.ellipsis_to_word_ratio": over(text.count("...") + text.count("…"), len(words)),
        "gopher.alphabetic_word_fraction": over(sum(any(map(str.isalpha, word)) for word in words), len(words)),
        "gopher.stop_word_count": len(set(STOP_WORDS) & set(words)),
        "dolma.word_count": len(words),
        "dolma.median_word_length": median(map(len, words)) if words else 0,
        "dolma.symbol_to_word_ratio": over(sum("#" in word or "…" in word for word in words), len(words)),
        "dolma.stop_word_count": sum(word in STOP_WORDS for word in words),
    }


def met_again(words: list[str], n: int) -> int:
    met, characters, i = set(), 0, 0
    while i <= len(words) - n:
        gram = tuple(words[i : i + n])
        characters += len("".join(gram)) if gram in met else 0
        i += n if gram in met else 1
        met.add(gram)
    return characters


def of_ngrams(text: str) -> dict[str, float]:
    words, values = text.split(), {}
    for n in range(2, 11):
        counts = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        lengths = {gram: len("".join(gram)) for gram in counts}
        if n <= 4:
            [(gram, count)] = counts.most_common(1) or [((), 0)]
            values[f"gopher.top_ngram_{n}_fraction"] = over(len(" ".join(gram)) * count, len(text))
            values[f"dolma.top_ngram_{n}_fraction"] = over(len("".join(gram)) * count, len("".join(words)))
        else:
            repeated = sum(lengths[gram] * count for gram, count in counts.items() if count > 1)
            every = sum(lengths[gram] * count for gram, count in counts.items())
            values[f"gopher.duplicate_ngram_{n}_fraction"] = over(met_again(words, n), len(text))
            values[f"dolma.duplicate_ngram_{n}_fraction"] = over(repeated, every)
    return values


def measure(texts: list[str | None], names: list[str] = NAMES) -> list[dict[str, float]]:
    text = pa.array(texts, pa.large_string())
    return signals.measure(names, text, text, Resources()).to_pylist()


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_they_are_their_definition(texts):
    assert measure(texts) == [pytest.approx(of_words(text) | of_ngrams(text), rel=1e-15) for text in texts]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_other_words_make_no_difference_to_plain_ones(suffix):
    """In ASCII letters between single spaces all splitters find the same words."""
    texts = [" ".join(string.ascii_lowercase[i % 7] * (i % 3 + 1) for i in range(size)) for size in (0, 1, 30, 500)]
    names = [name for name in NAMES if name + suffix in SIGNALS]
    plain, other = measure(texts, names), measure(texts, [name + suffix for name in names])
    assert [list(row.values()) for row in plain] == [list(row.values()) for row in other]


def test_they_measure_the_transformed_text():
    raw, text = pa.array(["a b c"], pa.large_string()), pa.array(["a"], pa.large_string())
    assert signals.measure(["gopher.word_count"], raw, text, Resources()).to_pylist() == [{"gopher.word_count": 1}]


def test_a_null_measures_as_an_empty_text():
    first, second = measure([None, ""])
    assert first == second == dict.fromkeys(NAMES, 0)


def test_what_unicode_words_depend_on_is_in_the_fingerprint():
    inputs = signals.fingerprint(["gopher.word_count.unicode", "gopher.word_count"], Resources())["inputs"]
    assert inputs["gopher.words"] is None
    assert len(inputs["gopher.words.unicode"]["word_break"]) == 32
