"""C4's lines and signals beside datatrove's filters, on the same documents."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("datatrove", reason="needs: pip install -e '.[test,peers]'")

from datatrove.data import Document
from datatrove.pipeline.filters import c4_filters
from datatrove.pipeline.filters.c4_filters import C4BadWordsFilter, C4QualityFilter
from probe import Probe, differences, measure

from zydaflow import transforms
from zydaflow.signals import Resources

LINES_ONLY = {"min_num_sentences": -1, "filter_lorem_ipsum": False, "filter_curly_bracket": False}


def transformed(texts):
    return transforms.apply(["c4"], pa.array(texts, pa.large_string())).to_pylist()


def theirs(text, **options):
    """datatrove's verdict, and the text that it leaves."""
    document = Document(text, "")
    verdict = C4QualityFilter(**options).filter(document)
    return verdict if verdict is True else verdict[1], document.text


def test_lines_that_stay(documents):
    kept = [theirs(text, **LINES_ONLY)[1] for text in documents]
    differ = [pair for pair in zip(transformed(documents), kept, strict=True) if pair[0] != pair[1]]
    assert differ == []


@pytest.mark.parametrize(
    ("option", "signal"),
    [("filter_lorem_ipsum", "c4.lorem_ipsum_count"), ("filter_curly_bracket", "c4.curly_bracket_count")],
)
def test_documents_that_go(documents, option, signal):
    """What removes a document there has a count above 0 here, over the lines that stay."""
    gone = [theirs(text, **LINES_ONLY | {option: True})[0] is not True for text in documents]
    assert [count > 0 for count in measure(transformed(documents), [signal])[signal]] == gone
    assert any(gone)


def test_sentences(documents, monkeypatch):
    """datatrove gets its sentences from spaCy. Given one for each of our ends, it counts as we do."""
    probe = Probe()
    monkeypatch.setattr(
        c4_filters,
        "split_into_sentences",
        lambda line, language: [line] * int(measure([line], ["c4.sentence_count"])["c4.sentence_count"][0]),
    )
    for text in documents:
        theirs(text, **LINES_ONLY | {"min_num_sentences": probe})
    assert differences(transformed(documents), {"c4.sentence_count": probe.seen}) == {}


def test_bad_words(documents, monkeypatch, tmp_path):
    words = json.loads(Path(Resources().bad_words).read_text("utf-8"))
    (tmp_path / "en").write_text("\n".join(words), "utf-8")
    monkeypatch.setattr(c4_filters, "cached_asset_path_or_download", lambda *arguments, **options: tmp_path / "en")
    tool = C4BadWordsFilter()
    gone = [tool.filter(Document(text, "")) is not True for text in documents]
    assert [count > 0 for count in measure(documents, ["c4.bad_word_count"])["c4.bad_word_count"]] == gone
    assert any(gone)
