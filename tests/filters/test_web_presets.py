import pyarrow as pa
import pytest

from zydaflow import signals
from zydaflow.filters import judge, preset
from zydaflow.signals import Resources

PYTHON = "import os\n\n\ndef main():\n    # where we are\n    print(os.getcwd())\n"
PROSE = "\n".join(
    f"It was the {n}th morning on which nobody came down to the harbour to meet boat {n}." for n in range(9)
)


def broken(name: str, text: str) -> set[str]:
    """The rules of a set that a text breaks."""
    rules = preset(name).rules
    array = pa.array([text], pa.large_string())
    table = signals.measure(list(dict.fromkeys(rule.signal for rule in rules)), array, array, Resources())
    return {rule.name for rule, breaks in zip(rules, judge(table, rules)[0], strict=True) if breaks}


@pytest.mark.parametrize(
    ("name", "text", "rules"),
    [
        ("code", PYTHON, set()),
        ("code", "name = 1;" * 200, {"code.max_line_length.max", "code.mean_line_length.max"}),
        ("code", "name = 1\n" * 100_001, {"code.line_count.max"}),
        ("code", "+[](){};\n" * 30, {"code.alphanumeric_fraction.min", "code.alphabetic_fraction.min"}),
        ("code", "# Generated automatically\n" + PYTHON, {"code.generated_mark_count.max"}),
        ("code", "<?xml version='1.0'?>\n<a>text</a>\n", {"code.xml_declaration_count.max"}),
        (
            "code",
            "key = (\n" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph\n" * 40 + ")\n",
            {"code.longest_base64.max", "code.base64_fraction.max"},
        ),
        ("code_python", PYTHON, set()),
        ("code_python", PYTHON.replace("# where we are", "pass"), {"code.comment_fraction.python.min"}),
        ("code_python", '"""' + "words " * 50 + '"""\npass\n', {"code.comment_fraction.python.max"}),
        ("code_c", "int x; // the place\n", set()),
        ("code_c", "int x;\n", {"code.comment_fraction.c.min"}),
        ("redpajama", PROSE, set()),
        ("redpajama", "too short", {"rpv2.word_count.min"}),
        (
            "redpajama",
            "• buy everything now\n" * 40,
            {"rpv2.bullet_line_fraction.max", "rpv2.top_ngram_2_fraction.max"},
        ),
        ("redpajama", "a " * 60, {"rpv2.mean_word_length.min", "rpv2.top_ngram_2_fraction.max"}),
    ],
)
def test_rules_that_texts_break(name, text, rules):
    assert broken(name, text) == rules
