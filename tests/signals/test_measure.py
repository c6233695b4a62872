import json
import pickle
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals, transforms
from zydaflow.errors import RecipeError
from zydaflow.recipe import Recipe
from zydaflow.signals import SIGNALS, Resources

NOTHING = ["", "   ", "\n\n", "\u200b", "!!!", "😀", "12345", None]
WITHOUT_MODEL = [name for name in SIGNALS if not name.startswith("language")]


def measure(texts, names=WITHOUT_MODEL, resources=None):
    raw = pa.array(texts, pa.large_string())
    return signals.measure(names, raw, transforms.apply(["zyda"], raw), resources or Resources())


def test_every_signal_is_defined_for_next_to_nothing():
    table = measure(NOTHING)
    for column in table.columns:
        assert column.null_count == 0
        assert np.isfinite(column.to_numpy()).all()
    assert table["zyda.transformed_length"].to_pylist() == [0, 3, 2, 1, 3, 1, 5, 0]
    assert table["zyda.mean_word_length"].to_pylist() == [0, 0, 0, 1, 3, 1, 5, 0]
    assert table["zyda.fraction_non_alphanumeric"].to_pylist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert table["zyda.fraction_numerical"].to_pylist() == [0, 0, 0, 0, 0, 0, 1, 0]
    assert table["n_words"].to_pylist() == [0, 0, 0, 1, 0, 1, 1, 0]


FRACTIONS = [name for name in WITHOUT_MODEL if SIGNALS[name].kind == "fraction"]
WORDS = st.sampled_from(
    ["a", "a", "Bé", "lorem", "ipsum", "{", "# x", "•", "…", " ", "  ", "\n", "\n\n", ". ", "中", "1.2"]
)


@given(st.lists(st.lists(WORDS, max_size=40).map("".join), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_fractions_are_never_above_1(texts):
    for name, column in zip(FRACTIONS, measure(texts, FRACTIONS).columns, strict=True):
        values = column.to_numpy()
        assert ((values >= 0) & (values <= 1)).all(), (name, values)


def test_columns_are_those_asked_for_in_their_order():
    names = ["zyda.pii_count", "n_words", "zyda.pattern_fraction.www"]
    table = measure(["www.a@b.co"], names)
    assert table.schema.names == names
    assert table.schema.types == [pa.int64(), pa.int64(), pa.float64()]
    assert table.to_pylist() == [{"zyda.pii_count": 1, "n_words": 1, "zyda.pattern_fraction.www": 0.1}]


def test_no_documents():
    assert measure([]).num_rows == 0
    assert measure([]).schema.names == WITHOUT_MODEL


def test_slices_measure_as_copies():
    texts = ["a b c 1.2.3.4", "www.x <b>", "", "aaaaaaaa"]
    raw = pa.array([*texts, "z"], pa.large_string())
    part = raw.slice(1, 3)
    assert signals.measure(WITHOUT_MODEL, part, part, Resources()) == measure(texts[1:])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_character_signals_are_their_definition(texts):
    table = measure(texts)
    for row, text in zip(table.to_pylist(), texts, strict=True):
        pieces = re.split(r"[\s\-/\\.]", text)
        assert row["zyda.mean_word_length"] == pytest.approx(sum(map(len, pieces)) / len(pieces), abs=1e-12)
        characters = len(text) or 1
        assert row["zyda.fraction_non_alphanumeric"] == len(re.findall(r"[^\w\s]", text)) / characters
        assert row["zyda.fraction_numerical"] == len(re.findall(r"\d", text)) / characters


def test_patterns_are_literal():
    table = measure(['www. wwwx <?xml version= ?xml version= lorem ipsum https://a <b> "k": xml'])
    counts = {name.rpartition(".")[2]: column[0].as_py() for name, column in _columns(table, "zyda.pattern_counts.")}
    assert counts == {
        "xml": 3, "xml_declaration": 1, "lorem_ipsum": 1, "https": 1, "less_than": 2, "greater_than": 1,
        "quote_colon": 1, "www": 1,
    }  # fmt: skip


def _columns(table, prefix):
    return [(name, table[name]) for name in table.schema.names if name.startswith(prefix)]


def test_unknown_signal_names_the_nearest():
    with pytest.raises(RecipeError, match=r"no signal 'n_word'; did you mean n_words\?"):
        measure(["a"], ["n_word"])


def test_every_signal_describes_itself():
    for signal in SIGNALS.values():
        assert signal.specification.endswith(".")
        assert signal.unit
        assert signal.source
        assert (np.diff(signal.bins) > 0).all()
        assert (len(signal.bins) > 0) == (signal.kind != "label")


def test_resources_travel_as_paths():
    resources = Resources(language_model="lid.176")
    assert pickle.loads(pickle.dumps(resources)) == resources
    assert len(pickle.dumps(resources)) < 2000


def test_resources_of_a_recipe(tmp_path):
    recipe = Recipe.model_validate(
        {
            "name": "r",
            "datasets": [{"name": "a", "path": "/a.jsonl"}],
            "word_lists": {"profanity": "/p.txt", "bad_words": "/b.txt"},
            "language": {"model": "/m.ftz", "keep": ["en"], "max_bytes": 100},
            "output": {"path": "/out"},
        },
        strict=False,
    )
    resources = Resources.of(recipe)
    assert resources.word_lists[1] == "/p.txt"
    assert resources.word_lists[0] == Resources().word_lists[0]
    assert (resources.language_model, resources.language_bytes) == ("/m.ftz", 100)
    assert resources.bad_words == "/b.txt"


def test_fingerprint_is_json_and_follows_what_changes_values(tmp_path):
    path = tmp_path / "l.txt"
    path.write_text("one\n", encoding="utf-8")
    copy = tmp_path / "copy.txt"
    copy.write_text("one\n", encoding="utf-8")
    other = tmp_path / "other.txt"
    other.write_text("two\n", encoding="utf-8")
    names = ["zyda.word_list_counts.sexual"]

    def fingerprint(list_path, names=names):
        return json.dumps(signals.fingerprint(names, Resources((str(list_path), *Resources.word_lists[1:]))))

    assert fingerprint(path) == fingerprint(copy)
    assert fingerprint(path) != fingerprint(other)
    assert fingerprint(path, ["n_words"]) == fingerprint(other, ["n_words"])
    assert fingerprint(path, ["n_words"]) != fingerprint(path)
