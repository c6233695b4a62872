"""Which documents the rule sets remove, beside datatrove's filters with their own thresholds."""

import pytest

pytest.importorskip("datatrove", reason="needs: pip install -e '.[test,peers]'")

import numpy as np
import pyarrow as pa
from datatrove.data import Document
from datatrove.pipeline.filters import (
    GopherQualityFilter,
    GopherRepetitionFilter,
    fineweb_quality_filter,
    gopher_quality_filter,
    gopher_repetition_filter,
)
from datatrove.pipeline.filters.fineweb_quality_filter import FineWebQualityFilter

from zydaflow import signals
from zydaflow.filters import judge, preset
from zydaflow.signals import Resources

FIVE_MARKS = (".", "?", "!", '"', "'")
SETS = {
    "gopher": (GopherQualityFilter(), GopherRepetitionFilter()),
    "fineweb": (FineWebQualityFilter(stop_chars=FIVE_MARKS, char_duplicates_ratio=0.1),),  # the paper's, not its 0.01
}


@pytest.fixture(autouse=True)
def words_between_white_space(monkeypatch):
    for module in (gopher_quality_filter, gopher_repetition_filter, fineweb_quality_filter):
        monkeypatch.setattr(module, "split_into_words", lambda text, language: text.split())


def removed(name, texts):
    rules, column = preset(name).rules, pa.array(texts, pa.large_string())
    names = list(dict.fromkeys(column for rule in rules for column in rule.columns))
    return judge(signals.measure(names, column, column, Resources()), rules).any(axis=1)


@pytest.mark.parametrize("name", SETS)
def test_the_same_documents_go(real, name):
    """The signals that differ (see the other tests here) are nowhere on both sides of a threshold."""
    theirs = [any(tool.filter(Document(text, "")) is not True for tool in SETS[name]) for text in real]
    assert np.flatnonzero(removed(name, real) != theirs).tolist() == []
    assert len(set(theirs)) == 2
