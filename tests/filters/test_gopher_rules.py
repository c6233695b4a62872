"""The rule sets gopher and dolma: which rules texts break."""

import pyarrow as pa
import pytest

from zydaflow import signals
from zydaflow.filters import judge, preset
from zydaflow.signals import Resources

WORDS = [first + second for first in ("alder", "birch", "cedar", "maple", "rowan") for second in "abcdefghijklm"]
CLEAN = "the of " + " ".join(WORDS)  # 67 words
NUMBERS = " ".join(map(str, range(10_000, 10_017)))


def broken(name: str, text: str) -> list[str]:
    rules, texts = preset(name).rules, pa.array([text], pa.large_string())
    columns = list(dict.fromkeys(column for rule in rules for column in rule.columns))
    table = signals.measure(columns, texts, texts, Resources())
    return [rule.name for rule, removes in zip(rules, judge(table, rules)[0], strict=True) if removes]


@pytest.mark.parametrize("name", ["gopher", "dolma"])
def test_clean_text_breaks_none(name):
    assert broken(name, CLEAN) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", ["word_count.min", "mean_word_length.min", "alphabetic_word_fraction.min", "stop_word_count.min"]),
        ("the of " + " ".join(WORDS[:47]), ["word_count.min"]),  # 49 words
        ("the of " + " ".join(WORDS[:48]), []),
        (CLEAN.removeprefix("the of "), ["stop_word_count.min"]),
        (CLEAN + " #" * 8, ["hash_to_word_ratio.max"]),  # 8 of 75 words
        (CLEAN + " #" * 7, []),  # 7 of 74
        (CLEAN.replace(" birch", "... birch"), ["ellipsis_to_word_ratio.max"]),  # 13 of 67
        (f"{CLEAN} {NUMBERS}", ["alphabetic_word_fraction.min"]),  # 67 of 84
        (f"{CLEAN}\n{CLEAN}\n{CLEAN}", [
            "duplicate_line_fraction.max", "duplicate_line_character_fraction.max",
            *(f"duplicate_ngram_{n}_fraction.max" for n in range(5, 11)),
        ]),
        (CLEAN.replace(" ", "\n- ").replace("the", "- the", 1),
         ["bullet_line_fraction.max", "alphabetic_word_fraction.min"]),  # bullets are words
    ],
)  # fmt: skip
def test_rules_of_gopher(text, rules):
    assert broken("gopher", text) == [f"gopher.{rule}" for rule in rules]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("the be " + CLEAN.removeprefix("the of "), []),
        (CLEAN.removeprefix("the "), ["dolma.stop_word_count.min"]),
        ("the the " + CLEAN.removeprefix("the of "), []),  # each occurrence counts
        (CLEAN.replace("cedar", "cedar…"), ["dolma.symbol_to_word_ratio.max"]),  # 13 of 67
        (" ".join(word * 2 for word in CLEAN.split()), ["dolma.median_word_length.max", "dolma.stop_word_count.min"]),
    ],
)
def test_rules_of_dolma(text, rules):
    assert broken("dolma", text) == rules
