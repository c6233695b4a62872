import json
from itertools import groupby

import pytest

from zydaflow import list_signals
from zydaflow.cli import main
from zydaflow.errors import RecipeError
from zydaflow.filters import preset_names
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
    assert told.endswith(
        "Rule sets\n    zyda: 18 rules, 9 signals only reported; Zyda: A 1.3T Dataset for Open Language Modeling, arXiv\n"
        "    2406.01981\n"
    )
    assert main(["signals", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list_signals()
    assert main(["signals", "--set", "none"]) == RecipeError.exit_code
