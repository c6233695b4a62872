"""Gopher's signals beside datatrove's filters, on the same documents and the same words."""

import pytest

pytest.importorskip("datatrove", reason="needs: pip install -e '.[test,peers]'")

from datatrove.data import Document
from datatrove.pipeline.filters import gopher_quality_filter, gopher_repetition_filter
from datatrove.pipeline.filters.gopher_quality_filter import PUNCTUATION_SET, GopherQualityFilter
from datatrove.pipeline.filters.gopher_repetition_filter import GopherRepetitionFilter
from probe import Probe, columns, differences

FULL_WORDS = {"min_doc_words": ["gopher.word_count"], "min_avg_word_length": ["gopher.mean_word_length"]}
QUALITY = {
    "max_symbol_word_ratio": ["gopher.hash_to_word_ratio", "gopher.ellipsis_to_word_ratio"],
    "max_bullet_lines_ratio": ["gopher.bullet_line_fraction"],
    "max_ellipsis_lines_ratio": ["gopher.ellipsis_line_fraction"],
    "max_non_alpha_words_ratio": ["gopher.alphabetic_word_fraction"],
    "min_stop_words": ["gopher.stop_word_count"],
}
THRESHOLDS = dict.fromkeys([*FULL_WORDS, "max_doc_words", "max_avg_word_length", *QUALITY])
REPETITION = {
    "dup_line_frac": "gopher.duplicate_line_fraction",
    "dup_line_char_frac": "gopher.duplicate_line_character_fraction",
    "dup_para_frac": "gopher.duplicate_paragraph_fraction",
    "dup_para_char_frac": "gopher.duplicate_paragraph_character_fraction",
}
TOP = {f"gopher.top_ngram_{n}_fraction": n for n in (2, 3, 4)}
AGAIN = {f"gopher.duplicate_ngram_{n}_fraction": n for n in range(5, 11)}


@pytest.fixture
def words_between_white_space(monkeypatch):
    """datatrove finds words by spaCy; here it gets those that we have."""
    for module in (gopher_quality_filter, gopher_repetition_filter):
        monkeypatch.setattr(module, "split_into_words", lambda text, language: text.split())


def of_quality(text, signals):
    """What the filter of quality compares with thresholds."""
    probes = {threshold: Probe() for threshold in signals}
    assert GopherQualityFilter(**THRESHOLDS | probes).filter(Document(text, "")) is True
    return {
        name: value
        for threshold, probe in probes.items()
        for name, value in zip(signals[threshold], probe.seen, strict=True)
    }


def of_repetition(text):
    """What the filter of repetition compares with thresholds; 0 for n-grams of a text of fewer than n words."""
    probes = {name: Probe() for name in [*REPETITION.values(), *TOP, *AGAIN]}
    tool = GopherRepetitionFilter(
        **{threshold: probes[name] for threshold, name in REPETITION.items()},
        top_n_grams=[(n, probes[name]) for name, n in TOP.items()],
        dup_n_grams=[(n, probes[name]) for name, n in AGAIN.items()],
    )
    assert tool.filter(Document(text, "")) is True
    return {name: sum(probe.seen) for name, probe in probes.items()}


def full(word):
    """Whether datatrove counts a word: it is not only punctuation."""
    return any(character not in PUNCTUATION_SET for character in word)


@pytest.mark.usefixtures("words_between_white_space")
def test_quality(documents):
    theirs = columns([of_quality(text, QUALITY) for text in documents])
    assert differences(documents, theirs) == {}


@pytest.mark.usefixtures("words_between_white_space")
def test_full_words(documents):
    """Words count here that hold a letter or a number; there, that hold anything but a list of punctuation.

    Without words on which the two differ, such as those of ' and [ and |, the values are the same.
    """
    alike = [[word for word in text.split() if full(word) == any(map(str.isalnum, word))] for text in documents]
    texts = [" ".join(words) for words in alike if any(map(full, words))]
    theirs = columns([of_quality(text, FULL_WORDS) for text in texts])
    assert differences(texts, theirs) == {}


@pytest.mark.usefixtures("words_between_white_space")
def test_repetition(documents):
    """Of 5- to 10-grams, datatrove joins the words without a space: then `a bc` and `ab c` are the same to it.

    So values differ only in documents with two n-grams that are spelt alike but for their spaces.
    """
    theirs = columns([of_repetition(text) for text in documents])
    unexplained = {
        name: [text for text in texts if not (name in AGAIN and spelt_alike(text.split(), AGAIN[name]))]
        for name, texts in differences(documents, theirs).items()
    }
    assert {name: texts for name, texts in unexplained.items() if texts} == {}


def spelt_alike(words, n):
    grams = {tuple(words[place : place + n]) for place in range(len(words) - n + 1)}
    return len({"".join(gram) for gram in grams}) < len(grams)


@pytest.mark.usefixtures("words_between_white_space")
def test_repetition_of_words_with_ends(documents):
    """With a mark at the end of every word, no two n-grams are spelt alike, and all values are the same."""
    texts = [" ".join(word + "\0" for word in text.split()) for text in documents]
    theirs = columns([of_repetition(text) for text in texts])
    assert differences(texts, theirs) == {}
