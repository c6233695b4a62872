import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import transforms
from zydaflow.errors import RecipeError

ORDER = [("-", 10), (" ", 40), ("_", 10), ("/", 10), ("\\", 10), ("\n", 10), ("\t", 20), ("\r", 10), (".", 10)]
ORDER += [(",", 10), (":", 10), ("?", 10), ("\u00a0", 10)]
CHARACTERS = st.sampled_from([c for c, _ in ORDER] + ["a", "!", "\u00a1", "Р", "†", "\u2020", "𐂠"])


def collapsed(text: str) -> str:
    for character, length in ORDER:
        text = re.sub(f"{re.escape(character)}{{{length},}}", lambda run: run[0][0], text)
    return text


def zyda(texts):
    return transforms.apply(["zyda"], pa.array(texts, pa.large_string()))


@given(st.lists(st.lists(st.tuples(CHARACTERS, st.integers(1, 45)), max_size=8), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=400)
def test_equals_one_replacement_after_another(runs):
    texts = ["".join(character * length for character, length in run) for run in runs]
    assert zyda(["----------", *texts])[1:].to_pylist() == [collapsed(text) for text in texts]


@pytest.mark.parametrize(("character", "length"), ORDER)
@pytest.mark.parametrize("before", range(10))
def test_threshold_at_every_place_of_the_search(character, length, before):
    around = "x" * before
    for count, left in ((length - 1, length - 1), (length, 1), (length + 1, 1), (3 * length, 1)):
        assert zyda([around + character * count + "y"]).to_pylist() == [around + character * left + "y"]
        assert zyda([around + character * count]).to_pylist() == [around + character * left]


def test_runs_do_not_cross_documents():
    assert zyda(["-----", "-----", "x----------x"]).to_pylist() == ["-----", "-----", "x-x"]


def test_nothing_to_collapse_is_no_copy():
    texts = pa.array(["a-b", "", None, "\u00a0" * 9], pa.large_string())
    assert transforms.apply(["zyda"], texts) is texts


def test_slices_and_nulls():
    texts = pa.array(["----------", None, "a..........", "", "b"], pa.large_string())
    assert transforms.apply(["zyda"], texts[1:]).to_pylist() == [None, "a.", "", "b"]


def test_no_transform_keeps_the_array():
    texts = pa.array(["----------"], pa.large_string())
    assert transforms.apply([], texts) is texts


def test_unknown_name():
    with pytest.raises(RecipeError, match=r"transform: there is no transform 'zdya'; did you mean zyda\?"):
        transforms.apply(["zdya"], pa.array(["a"], pa.large_string()))
    with pytest.raises(RecipeError, match="zyda"):
        transforms.fingerprint(["zdya"])


def test_fingerprint_names_versions():
    assert transforms.fingerprint(["zyda"]) == [["zyda", 1]]
