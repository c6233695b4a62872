"""Signals over lines: what tables of single texts cannot say."""

import pyarrow as pa
import pytest

from zydaflow import signals, transforms
from zydaflow.errors import InputError
from zydaflow.filters import judge, preset
from zydaflow.signals import SIGNALS, Resources
from zydaflow.signals.resources import OWN_LISTS
from zydaflow.signals.word_list import read_words

PREFIXES = ("c4.", "fineweb.", "refinedweb.")
NAMES = [name for name in SIGNALS if name.startswith(PREFIXES) or "_line_" in name or "_paragraph_" in name]


def measure(texts, names=NAMES, resources=None):
    raw = pa.array(texts, pa.large_string())
    return signals.measure(names, raw, raw, resources or Resources())


def kept_by(name, texts):
    """Which texts break no rule of a set after the transform of its name."""
    raw = pa.array(texts, pa.large_string())
    text = transforms.apply([name], raw)
    rules = preset(name).rules
    table = signals.measure([rule.signal for rule in rules], raw, text, Resources())
    return [not any(broken) for broken in judge(table, rules)]


def test_they_measure_the_transformed_text():
    raw, text = pa.array(["• {"], pa.large_string()), pa.array(["Two.\nTwo."], pa.large_string())
    names = ["gopher.bullet_line_fraction", "gopher.duplicate_line_fraction", "c4.curly_bracket_count", "c4.line_count"]
    assert signals.measure(names, raw, text, Resources()).to_pylist()[0] == dict(
        zip(names, [0, 0.5, 0, 2], strict=True)
    )


def test_a_null_measures_as_an_empty_text():
    table = measure([None, ""])
    assert table[:1] == table[1:]


FIVE = "Here are five words now."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\n".join([FIVE] * 3), True),
        ("\n".join([FIVE] * 2), False),  # fewer than three sentences
        (f"{FIVE} Are {FIVE} Were there ten words?", True),
        ("\n".join([FIVE] * 3 + ["{ on a line that goes"]), True),
        ("\n".join([FIVE] * 3 + ["A { on a line that stays."]), False),
        ("\n".join([FIVE] * 3 + ["A { of javascript that goes."]), True),
        ("\n".join([FIVE] * 3 + ["A { with terms of use."]), False),  # the bracket comes first
        ("\n".join([FIVE] * 3 + ["The javascript of lorem ipsum."]), False),  # so does this
        ("\n".join([FIVE] * 3 + ["We use cookies on this page."]), True),
        ("\n".join([FIVE] * 3 + ["Shit happens every other day."]), False),
        ("\n".join([FIVE] * 3 + ["Shit"]), True),
    ],
)
def test_pages_that_c4_keeps(text, kept):
    assert kept_by("c4", [text]) == [kept]


def test_pages_that_refinedweb_keeps():
    line = "In this line there are nineteen words, " + "and " * 12
    assert kept_by("refinedweb", [f"{line}\nHome", f"{line}\n3 likes"]) == [True, False]  # 1 of 20, 2 of 21


def test_bad_words_of_ones_own(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("  Kuh \nÉTÉ\nété\nπούτσος\n", encoding="utf-8")
    resources = Resources(bad_words=str(path))
    texts = ["kuh, KUH, \u212auh, Kuhle", "Été é", "ΠΟΎΤΣΟΣ πούτσος"]
    assert measure(texts, ["c4.bad_word_count"], resources)[0].to_pylist() == [3, 1, 2]
    names = ["c4.bad_word_count"]
    assert signals.fingerprint(names, resources) != signals.fingerprint(names, Resources())
    path.write_text("kuh\nété\nπούτσοσ\n", encoding="utf-8")
    copy = tmp_path / "copy.json"
    copy.write_text('["πούτσος", "Kuh", "été"]', encoding="utf-8")
    copied = Resources(bad_words=str(copy))
    assert signals.fingerprint(names, copied) == signals.fingerprint(names, Resources(bad_words=str(path)))


def test_errors_of_a_list_of_bad_words(tmp_path):
    path = tmp_path / "list.json"
    path.write_text('["a", " "]', encoding="utf-8")
    with pytest.raises(InputError, match=r"list\.json: entry 2 is ' '; an entry must be text, and not empty"):
        measure(["a"], ["c4.bad_word_count"], Resources(bad_words=str(path)))


def test_own_bad_words_are_few_and_different():
    words = read_words(str(OWN_LISTS / "bad_words.json"))
    assert len(words) == len(set(words)) < 30
    assert words == sorted(words)
