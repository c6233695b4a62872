"""dolma's variants of Gopher's signals and its personal data beside dolma's own taggers, on the same documents."""

import json

import pytest

pytest.importorskip(
    "dolma.taggers.gopher",
    reason="needs: pip install -e '.[test,conformance]' and, with --no-deps, dolma==1.2.1",
    exc_type=ImportError,
)

from dolma.core.data_types import Document
from dolma.taggers import c4
from dolma.taggers.gopher import get_attributes
from dolma.taggers.pii import FastPiiRegex
from probe import columns, differences, measure

from zydaflow.signals import Resources

GOPHER = {
    "dolma.word_count": "word_count",
    "dolma.median_word_length": "median_word_length",
    "dolma.symbol_to_word_ratio": "symbol_to_word_ratio",
    "gopher.alphabetic_word_fraction": "fraction_of_words_with_alpha_character",
    "dolma.stop_word_count": "required_word_count",
    "dolma.bullet_line_fraction": "fraction_of_lines_starting_with_bullet_point",
    "dolma.ellipsis_line_fraction": "fraction_of_lines_ending_with_ellipsis",
    "dolma.duplicate_line_fraction": "fraction_of_duplicate_lines",
    "dolma.duplicate_line_character_fraction": "fraction_of_characters_in_duplicate_lines",
}
C4 = {
    "has_curly_brace": "c4.curly_bracket_count",
    "has_lorem_ipsum": "c4.lorem_ipsum_count",
    "has_javascript": "c4.javascript_line_count",
}


def of_gopher(text):
    """The attributes of the tagger gopher_v1; 0 for n-grams of a text of fewer than n words, which has none there."""
    found = get_attributes(text)
    top = dict(found.fraction_of_characters_in_most_common_ngram)
    again = dict(found.fraction_of_characters_in_duplicate_ngrams)
    return (
        {name: getattr(found, attribute) for name, attribute in GOPHER.items()}
        | {f"dolma.top_ngram_{n}_fraction": top.get(n, 0) for n in (2, 3, 4)}
        | {f"dolma.duplicate_ngram_{n}_fraction": again.get(n, 0) for n in range(5, 11)}
    )


def spans(tagger, text):
    return tagger.predict(Document(source="", id="", text=text)).spans


def test_gopher(documents):
    assert differences(documents, columns([of_gopher(text) for text in documents])) == {}


def test_personal_data(documents):
    counts = [sum(span.score for span in spans(FastPiiRegex(), text) if span.type == "doc_count") for text in documents]
    assert differences(documents, {"dolma.pii_count": counts}) == {}
    assert any(counts)


def test_c4(documents):
    """The tagger c4_v2 says whether; here it is how often."""
    types = [{span.type for span in spans(c4.FasterC4Tagger(), text)} for text in documents]
    ours = measure(documents, C4.values())
    for type_, signal in C4.items():
        assert [count > 0 for count in ours[signal]] == [type_ in found for found in types]


def test_bad_words(documents, tmp_path):
    """A word has white space around it there, and no letter, number or underscore here; a phrase, anything there.

    So each document with a bad word there has one here, unless it is part of a phrase inside a longer word.
    """
    words = tmp_path / "bad_words.json"
    words.write_text(json.dumps(c4.NAUGHTY_LINES), "utf-8")
    counts = measure(documents, ["c4.bad_word_count"], Resources(bad_words=str(words)))["c4.bad_word_count"]
    whole = [bool(set(text.lower().split()) & c4.NAUGHTY_WORDS) for text in documents]
    assert all(count > 0 for count, found in zip(counts, whole, strict=True) if found)
    assert any(whole)
