"""C4's lines and signals beside datatrove's filters, on the same documents."""

import pyarrow as pa
import pytest

pytest.importorskip("datatrove", reason="needs: pip install -e '.[test,peers]'")

from datatrove.data import Document
from datatrove.pipeline.filters import c4_filters
from datatrove.pipeline.filters.c4_filters import CITATION_REGEX, C4BadWordsFilter, C4QualityFilter
from probe import Probe, differences, measure

from zydaflow import transforms
from zydaflow.signals import Resources
from zydaflow.signals.word_list import read_words

LINES_ONLY = {
    "min_num_sentences": -1,
    "filter_lorem_ipsum": False,
    "filter_curly_bracket": False,
    "min_words_per_line": 5,  # C4's program; datatrove goes by the paper's three
}


@pytest.fixture(autouse=True)
def marks_of_c4(monkeypatch):
    """C4's program and paper have four marks at the end of a line; datatrove has ' besides."""
    monkeypatch.setattr(c4_filters, "END_PUNCTUATION", (".", "?", "!", '"'))


def transformed(texts):
    return transforms.apply(["c4"], pa.array(texts, pa.large_string())).to_pylist()


def theirs(text, **options):
    """datatrove's verdict, and the text that it leaves."""
    document = Document(text, "")
    verdict = C4QualityFilter(**LINES_ONLY | options).filter(document)
    return verdict is True, document.text


def uncited(text):
    """The text without marks of citations, also those that are left of others."""
    shorter = CITATION_REGEX.sub("", text)
    return text if shorter == text else uncited(shorter)


def test_lines_that_stay(documents):
    """datatrove counts a line's words before it takes marks of citations out, and C4's program afterwards, as here.

    In texts without such marks the same lines stay; with them, only texts in which a mark is a word differ.
    """
    texts = [uncited(text) for text in documents]
    assert transformed(texts) == [theirs(text)[1] for text in texts]
    differ = [text for text, ours in zip(documents, transformed(documents), strict=True) if ours != theirs(text)[1]]
    assert [text for text in differ if len(CITATION_REGEX.sub("", text).split()) == len(text.split())] == []


@pytest.mark.parametrize(
    ("option", "signal", "found"),
    [
        ("filter_lorem_ipsum", "c4.lorem_ipsum_count", "Lorem Ipsum"),
        ("filter_curly_bracket", "c4.curly_bracket_count", "{"),
    ],
)
def test_documents_that_go(documents, option, signal, found):
    """What removes a document there has a count above 0 here, over the lines that stay."""
    texts = [uncited(text) for text in documents]
    texts += [f"{text}\nThere is now {found} in it." for text in texts[::3]]
    stay = [theirs(text, **{option: True})[0] for text in texts]
    assert [count == 0 for count in measure(transformed(texts), [signal])[signal]] == stay
    assert len(set(stay)) == 2


def test_sentences(documents, monkeypatch):
    """datatrove gets its sentences from spaCy. Given one for each of our ends, it counts as we do."""
    probe = Probe()
    monkeypatch.setattr(
        c4_filters,
        "split_into_sentences",
        lambda line, language: [line] * int(measure([line], ["c4.sentence_count"])["c4.sentence_count"][0]),
    )
    texts = [uncited(text) for text in documents]
    for text in texts:
        theirs(text, min_num_sentences=probe)
    assert differences(transformed(texts), {"c4.sentence_count": probe.seen}) == {}


def test_bad_words(documents, monkeypatch, tmp_path):
    words = read_words(Resources().bad_words)
    (tmp_path / "en").write_text("\n".join(words), "utf-8")
    monkeypatch.setattr(c4_filters, "cached_asset_path_or_download", lambda *arguments, **options: tmp_path / "en")
    tool = C4BadWordsFilter()
    gone = [tool.filter(Document(text, "")) is not True for text in documents]
    assert [count > 0 for count in measure(documents, ["c4.bad_word_count"])["c4.bad_word_count"]] == gone
    assert any(gone)
