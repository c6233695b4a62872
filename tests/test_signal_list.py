import json
from itertools import groupby

import pytest

from zydaflow import list_signals, signal_list
from zydaflow.cli import main
from zydaflow.errors import RecipeError
from zydaflow.filters import Composite, Rule, preset_names
from zydaflow.filters.presets import Preset
from zydaflow.signal_list import render
from zydaflow.signals import SIGNALS
from zydaflow.signals.registry import FAMILIES


def test_every_signal_and_family_and_rule_set_is_listed() -> None:
    listed = list_signals()
    chosen = [name for family in FAMILIES for name in family.names]
    names = [signal["name"] for signal in listed["signals"]]
    assert sorted(names) == sorted([*SIGNALS, *chosen])
    beginnings = [beginning for beginning, _ in groupby(names, lambda name: name.partition(".")[0])]
    assert len(beginnings) == len(set(beginnings))
    assert "url.domain" in chosen
    open_ = [f"{family.prefix}NAME" for family in FAMILIES if not family.names]
    assert [family["name"] for family in listed["families"]] == open_
    assert "metadata.number.NAME" in open_
    assert list(listed["sets"]) == preset_names()
    for told in (*listed["signals"], *listed["families"]):
        assert told["specification"].endswith("."), told["name"]
        assert told["unit"]
        assert told["source"]


def test_a_signal_says_which_sets_use_it_and_how() -> None:
    by_name = {signal["name"]: signal for signal in list_signals()["signals"]}
    assert by_name["zyda.mean_word_length"]["sets"]["zyda"] == ["min 3", "max 12"]
    assert by_name["zyda.pii_count"]["sets"]["zyda"] == []
    assert by_name["language"]["kind"] == "label"


def test_of_one_rule_set() -> None:
    listed = list_signals("zyda")
    names = [signal["name"] for signal in listed["signals"]]
    assert "zyda.transformed_length" in names
    assert "language" not in names
    assert listed["sets"]["zyda"] == {
        "source": "Zyda: A 1.3T Dataset for Open Language Modeling, arXiv 2406.01981",
        "rules": 18,
        "reports": 9,
    }
    with pytest.raises(RecipeError, match="there is no rule set 'zyd'; did you mean zyda"):
        list_signals("zyd")


def test_for_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signals", "--set", "zyda"]) == 0
    told = capsys.readouterr().out
    assert told == f"{render(list_signals('zyda'))}\n"
    assert (
        "zyda.mean_word_length: number, characters\n"
        "    The mean length of the pieces between single white space, -, /, \\ or . characters, empty ones\n"
        "    included.\n"
        "    Source: Zyda, arXiv 2406.01981; in zyda: min 3, max 12\n"
    ) in told
    assert "zyda.pii_count: integer, matches\n" in told
    assert "Rule sets\n    zyda: 18 rules, 9 signals only reported; Zyda: A 1.3T" in told
    assert main(["signals", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list_signals()
    assert main(["signals", "--set", "none"]) == RecipeError.exit_code


def test_rules_of_some_languages_and_in_composites(monkeypatch: pytest.MonkeyPatch) -> None:
    few = Rule("n_words.min", "n_words", "min", 3.0, but=("zh",))
    chinese = Rule("n_words.min.zh", "n_words", "min", 9.0, only=("zh",))
    odd = Composite("odd", "all", (Rule("odd.n_words.max", "n_words", "max", 70.0),))
    made_up = Preset("by hand", (few, chinese, odd), ())
    monkeypatch.setattr(signal_list, "preset_names", lambda: ["made-up"])
    monkeypatch.setattr(signal_list, "preset", lambda name: made_up)
    (words,) = list_signals("made-up")["signals"]
    assert words["sets"] == {"made-up": ["min 3", "min 9 for zh", "max 70 within odd"]}
    assert "in made-up: min 3, min 9 for zh, max 70 within odd " in " ".join(render(list_signals("made-up")).split())
    assert "made-up: 3 rules; by hand" in render(list_signals("made-up"))
