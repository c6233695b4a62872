import importlib.util
import json
import random

import pytest
import yaml

import zydaflow
from zydaflow import cli
from zydaflow.classifier import fit
from zydaflow.classifier.train import train_classifier
from zydaflow.errors import InputError, RecipeError, RunError

PROSE = ["tree", "river", "mountain", "letter", "history", "sentence", "people", "thought"]
BOILERPLATE = ["click", "cookie", "accept", "subscribe", "login", "menu", "cart", "copyright"]


@pytest.fixture(scope="module", autouse=True)
def _trainer():
    pytest.importorskip("fasttext_new")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(fit, "LINES", 1000)


def write(path, texts, **columns):
    rows = [{"text": text} | {name: values[at] for name, values in columns.items()} for at, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def prose(count, seed, words=PROSE):
    choice = random.Random(seed)
    return [f"{' '.join(choice.choices(words, k=30))}\n{' '.join(choice.choices(words, k=9))}" for _ in range(count)]


def boilerplate(count, seed):
    return prose(count, seed, BOILERPLATE)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Paths of good and of bad documents: 200 of each, and some of white space alone."""
    folder = tmp_path_factory.mktemp("data")
    return write(folder / "good.jsonl", [*prose(200, 1), "", " \n"]), write(folder / "bad.jsonl", boilerplate(200, 2))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_files_every_time_and_a_model_that_tells_apart(data, tmp_path):
    good, bad = data
    trained = train_classifier([good], [bad], tmp_path / "one")
    train_classifier([good], [bad], tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(files(tmp_path / "one")) == ["README.md", "evaluation.json", "model.bin"]
    assert trained.trained_on == (180, 180)
    assert [(source.name, source.label, source.documents) for source in trained.sources] == [
        ("good.jsonl", "good", 200),
        ("bad.jsonl", "bad", 200),
    ]
    found = trained.evaluation
    assert (found.good, found.bad) == (20, 20)
    assert found.half[1:] == (0.5, 1.0, 1.0)
    written = json.loads((tmp_path / "one" / "evaluation.json").read_text())
    assert written["half"] == {"threshold": 0.5, "keeps": 0.5, "precision": 1.0, "recall": 1.0}
    assert written["calibration_error"] == found.calibration_error


def test_the_card_has_a_recipe_that_works(data, tmp_path, serial):
    good, bad = data
    out = tmp_path / "new" / "model"
    trained = train_classifier([good], [bad], out, keep=0.25)
    card = (out / "README.md").read_text()
    assert "| good.jsonl | good | 200 | " in card
    snippet = yaml.safe_load(card.split("```yaml\n")[1].split("```")[0].replace("PATH", str(out)))
    assert snippet["filters"] == [{"signal": "classifier.quality", "min": trained.evaluation.wished.threshold}]
    mixed = write(tmp_path / "mixed.jsonl", [*prose(5, 3), *boilerplate(5, 4)])
    recipe = {
        "name": "r",
        "datasets": [{"name": "mixed", "path": mixed}],
        "classifiers": snippet["classifiers"],
        "filters": [{"signal": "classifier.quality", "min": 0.5}],
        "output": {"path": str(tmp_path / "run")},
    }
    run = zydaflow.run(zydaflow.load_recipe(recipe))
    assert zydaflow.open_run(run).signals("mixed")["verdict"].to_pylist() == ["kept"] * 5 + ["filtered"] * 5


def test_the_command_evaluates_on_a_file_whose_texts_are_not_trained_on(data, tmp_path, capsys):
    good, bad = data
    texts = [*prose(10, 1), *boilerplate(30, 5)]  # the first ten are among those to train on
    file = write(tmp_path / "eval.jsonl", texts, label=["good"] * 10 + ["bad"] * 30)
    recipe = tmp_path / "r.yaml"
    datasets = [
        {"name": "prose", "path": good, "license": "CC0-1.0"},
        {"name": "web", "path": bad},
        {"name": "more", "path": bad, "sample": 0.5},
    ]
    recipe.write_text(yaml.safe_dump({"name": "r", "datasets": datasets}))
    out = tmp_path / "out"
    command = ["classifier", "train", "--good", "prose", "--bad", "web", "more", "--recipe", str(recipe)]
    assert cli.main([*command, "--eval", file, "--keep", "10%", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("trained on 190 good and 200 bad documents; on the documents of eval.jsonl:\n")
    assert "| 25% or more | " in told
    card = (out / "README.md").read_text()
    assert "On the documents of eval.jsonl: 10 good and 30 bad ones." in card
    assert "| prose | good | 200 | " in card
    assert "| CC0-1.0 |" in card
    assert json.loads((out / "evaluation.json").read_text())["wished"]["keeps"] == pytest.approx(0.1)


def test_nothing_to_train_with(monkeypatch, data, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'zydaflow\[classifier\]'"):
        train_classifier([data[0]], [data[1]], tmp_path / "out")


def test_what_is_wrong_is_told_and_nothing_is_left(data, tmp_path):
    good, bad = data
    few = write(tmp_path / "few.jsonl", ["only one"])
    wrong = write(tmp_path / "wrong.jsonl", ["a", "b"], label=["good", "fine"])
    used = tmp_path / "used"
    used.mkdir()
    (used / "file").touch()
    recipe = zydaflow.load_recipe({"name": "r", "datasets": [{"name": "prose", "path": good}]})
    out = tmp_path / "out"
    for error, message, call in [
        (RecipeError, r"--out: .*/used is no empty folder", lambda: train_classifier([good], [bad], used)),
        (
            RecipeError,
            r"--out: s3://b/m is no folder of this machine",
            lambda: train_classifier([good], [bad], "s3://b/m"),
        ),
        (
            RecipeError,
            r"no dataset 'pros'; did you mean prose\?",
            lambda: train_classifier(["pros"], ["x"], out, recipe),
        ),
        (RecipeError, r"both have prose", lambda: train_classifier(["prose"], ["prose"], out, recipe)),
        (InputError, r"there are no bad documents to evaluate on", lambda: train_classifier([good], [few], out)),
        (
            InputError,
            r"label 'fine' is neither good nor bad",
            lambda: train_classifier([good], [bad], out, None, wrong),
        ),
        (InputError, r"no\.jsonl", lambda: train_classifier([good], [str(tmp_path / "no.jsonl")], out)),
    ]:
        with pytest.raises(error, match=message):
            call()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.jsonl", "used", "wrong.jsonl"]


def test_training_that_fails_is_told(tmp_path):
    with pytest.raises(RunError, match=r"training ended with 1: .*no-lines"):
        fit.fit(tmp_path / "no-lines", 1, tmp_path / "model.bin", 1)


def test_rounds_follow_the_number_of_documents(monkeypatch):
    monkeypatch.undo()
    assert [fit.settings_for(documents)["epoch"] for documents in (1, 2000, 2500, 9999, 10_000, 10**9)] == [
        *(25, 25, 20, 6, 5, 5),
    ]
