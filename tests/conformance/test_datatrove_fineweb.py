"""FineWeb's signals beside datatrove's filter, on the same documents and the same words."""

import pytest

pytest.importorskip("datatrove", reason="needs: pip install -e '.[test,peers]'")

from datatrove.data import Document
from datatrove.pipeline.filters import fineweb_quality_filter
from datatrove.pipeline.filters.fineweb_quality_filter import FineWebQualityFilter
from probe import Probe, columns, differences

THRESHOLDS = {
    "line_punct_thr": "fineweb.line_punctuation_fraction",
    "short_line_thr": "fineweb.short_line_fraction",
    "char_duplicates_ratio": "fineweb.duplicate_line_character_fraction",
    "new_line_ratio": "fineweb.newline_to_word_ratio",
}
FIVE_MARKS = (".", "?", "!", '"', "'")  # those of FineWeb; now datatrove has FineWeb2's by default


def values(text, names, stop_chars=None):
    """What the filter compares with thresholds."""
    probes = {threshold: Probe() for threshold in THRESHOLDS}
    assert FineWebQualityFilter(**probes, stop_chars=stop_chars).filter(Document(text, "")) is True
    return {name: sum(probes[threshold].seen) for threshold, name in names.items()}


@pytest.fixture(autouse=True)
def words_between_white_space(monkeypatch):
    monkeypatch.setattr(fineweb_quality_filter, "split_into_words", lambda text, language: text.split())


def test_fineweb(documents):
    theirs = columns([values(text, THRESHOLDS, FIVE_MARKS) for text in documents])
    assert differences(documents, theirs) == {}


def test_fineweb2(documents):
    names = {"line_punct_thr": "fineweb2.line_punctuation_fraction"}
    theirs = columns([values(text, names) for text in documents])
    assert differences(documents, theirs) == {}
