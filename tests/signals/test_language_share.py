import numpy as np
import pyarrow as pa
import pytest
from fasttextfile import write_model
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals
from zydaflow.errors import InputError, RecipeError
from zydaflow.kernels.text import from_arrow
from zydaflow.signals import SIGNALS, Resources
from zydaflow.signals.language_share import lines_of

A, B = "a" * 20, "b" * 20  # words of a language each, long enough to be decided


@pytest.fixture
def resources(tmp_path):
    """aaa_Latn for the word A, bbb_Cyrl for the word B, by labels like GlotLID's."""
    words = {"</s>": 0.0, A: 2.0, B: -2.0}
    return Resources(language_model=write_model(tmp_path / "m.bin", {"aaa_Latn": 1.0, "bbb_Cyrl": -1.0}, words))


def shares(texts, resources, label="aaa_Latn"):
    name = f"language_share.{label}"
    column = pa.array(texts, pa.large_string())
    return signals.measure([name], column, column, resources)[name].to_pylist()


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (A, 1.0),
        (f"{A}\n{B}", 0.5),
        (f"{A}\n\n{B}\n{B}\n{B}\n", 0.25),
        (f"{A} {A}\n{B}", 2 / 3),  # letters, not lines
        (f"{A}\ntoo short\n12345 !!!", 1.0),
        (f"\n\n{B}", 0.0),
        ("", None),
        (" \n\u200b\n!!!\n😀", None),
        ("short\nlines\nalone", None),
        (None, None),
    ],
)
def test_by_hand(resources, text, share):
    assert shares([A, text, B], resources) == [1.0, share, 0.0]


def test_the_shares_of_all_labels_add_up_to_one(resources):
    text = [f"{A} {B} {B}\n{A}\n{A} {A}"]
    assert shares(text, resources) == [60 / 120]
    assert shares(text, resources, "bbb_Cyrl") == [60 / 120]


def test_of_each_line_its_beginning_is_seen(resources):
    limited = Resources(language_model=resources.language_model, language_bytes=41)
    assert shares([f"{A} {A} {B} {B} {B}\n{B}"], limited) == [40 / 60]


def test_slices(resources):
    column = pa.array([B, f"{A}\n{B}", A, B], pa.large_string())[1:3]
    found = signals.measure(["language_share.aaa_Latn"], column, column, resources)
    assert found.columns[0].to_pylist() == [0.5, 1.0]


def test_the_language_of_a_document_has_such_labels_too(resources):
    column = pa.array([A, B], pa.large_string())
    assert signals.measure(["language"], column, column, resources).columns[0].to_pylist() == ["aaa_Latn", "bbb_Cyrl"]


def test_an_unknown_label(resources):
    signals.check_models(["language_share.bbb_Cyrl"], resources)
    with pytest.raises(RecipeError, match=r"language_share\.aaa: the model has no label 'aaa'; there are: aaa_Latn"):
        signals.check_models(["n_words", "language_share.aaa"], resources)
    with pytest.raises(InputError, match=r"language\.model: the signals of language need a fastText model"):
        signals.check_models(["language_share.en"], Resources())


def test_it_is_a_signal():
    assert "language_share.en" in SIGNALS
    assert "language_shares" not in SIGNALS


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("a\nß"), max_size=6), max_size=6), st.integers(0, 2))
def test_lines(texts, start):
    column = pa.array(texts, pa.large_string())[start:]
    text = from_arrow(column)
    starts, ends, documents = lines_of(text)
    data = text.data.tobytes()
    found = [data[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    lines = [value.split("\n") for value in texts[start:]]
    assert found == [line for each in lines for line in each]
    assert documents.tolist() == np.repeat(np.arange(len(lines)), [len(each) for each in lines]).tolist()
