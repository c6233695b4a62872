"""NeMo Curator's heuristics beside the signals that mean the same, on the same documents.

Where its rule is another one, the test says which, and on which texts the two agree.
"""

import re

import pytest

pytest.importorskip(
    "nemo_curator.stages.text.filters.heuristic.string", reason="needs NeMo Curator", exc_type=ImportError
)

from nemo_curator.stages.text.filters.heuristic import string
from nemo_curator.stages.text.filters.heuristic.repetition import repetition
from nemo_curator.stages.text.utils.constants import regex_alpha
from probe import columns, differences

SAME = {
    "dolma.word_count": string.WordCountFilter(),
    "dolma.stop_word_count": string.CommonEnglishWordsFilter(stop_at_false=False),
}


def scores(tools, texts):
    return columns([{name: tool.score_document(text) for name, tool in tools.items()} for text in texts])


def rest(share):
    return [1 - value for value in share]


def tidy(text):
    """Without what the two see differently in lines: blank ones, and white space at their ends."""
    lines = (line.strip() for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text))
    return "\n".join(line for line in lines if line)


def test_words(documents):
    assert differences(documents, scores(SAME, documents)) == {}


def test_alphabetic_words(documents):
    """Letters there are all that Unicode calls alphabetic, such as Ⅷ and vowel signs; here, what str.isalpha() does."""
    theirs = scores({"gopher.alphabetic_word_fraction": string.WordsWithoutAlphabetsFilter()}, documents)
    differ = differences(documents, theirs).get("gopher.alphabetic_word_fraction", [])
    assert [text for text in differ if all(map(alike, text.split()))] == []


def alike(word):
    return bool(regex_alpha.search(word)) == any(map(str.isalpha, word))


def test_lines(documents):
    """Its lines are stripped and never blank; where all are so, the values are those of FineWeb and Gopher."""
    texts = [tidy(text) for text in documents]
    unended = scores({"": string.PunctuationFilter()}, texts)[""]
    unlike = scores({"": repetition.RepeatedLinesFilter()}, texts)[""]
    theirs = {"fineweb.line_punctuation_fraction": rest(unended), "gopher.duplicate_line_fraction": rest(unlike)}
    assert differences(texts, theirs) == {}


def test_paragraphs(documents):
    """Its paragraphs lie between two newlines; so do ours where there are never three, nor any at the ends."""
    texts = [re.sub(r"\n{3,}", "\n\n", text).strip() for text in documents]
    unlike = scores({"": repetition.RepeatedParagraphsFilter()}, texts)[""]
    assert differences(texts, {"gopher.duplicate_paragraph_fraction": rest(unlike)}) == {}
