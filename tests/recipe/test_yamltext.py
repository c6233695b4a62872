import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.errors import RecipeError
from zydaflow.recipe.yamltext import key_text, line_of, read_yaml, write_scalar, write_yaml

TRICKY = [
    "no",
    "1e3",
    "2024-01-01",
    "12:30:00",
    "010",
    "1_000",
    "null",
    "~",
    "",
    " a",
    "a: b",
    "#",
    "a\nb",
    "\x85x",
    "=",
    "<<",
]
# YAML holds no surrogates and no control characters unescaped; the first line's byte order mark is not text either.
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(TRICKY)


def error_of(text: str) -> str:
    with pytest.raises(RecipeError) as caught:
        read_yaml(text, "recipe.yaml")
    return str(caught.value)


def test_scalars_are_those_of_yaml_1_2():
    text = "[no, yes, 2024-01-01, 12:30, 010, 1_000, 1e-3, .5, -3, 1.0, true, False, null, ~, ]"
    values, _ = read_yaml(text, "recipe.yaml")
    assert values == ["no", "yes", "2024-01-01", "12:30", "010", "1_000", 1e-3, 0.5, -3, 1.0, True, False, None, None]


def test_anchors_and_merges_work():
    value, _ = read_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", "recipe.yaml")
    assert value == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}


def test_objects_of_python_are_not_made():
    assert error_of("a: !!python/object/apply:os.getcwd []").startswith(
        "recipe.yaml:1: not valid YAML: could not determine a constructor for the tag"
    )


def test_broken_yaml_is_named_with_its_line():
    assert error_of("a: 1\nb: [1,\nc: 2").startswith("recipe.yaml:3: not valid YAML: ")
    assert (
        error_of("a: 1\n\tb: 2") == "recipe.yaml:2: not valid YAML: found character '\\t' that cannot start any token"
    )
    assert error_of("a: \x00").startswith("recipe.yaml: not valid YAML: unacceptable character #x0000")


def test_keys_given_twice_are_named_all():
    text = "name: a\ndatasets:\n- path: x\n  path: y\nname: b\nname: c\n"
    assert error_of(text).splitlines() == [
        "recipe.yaml:4: datasets[0].path: given twice; first in line 3",
        "recipe.yaml:5: name: given twice; first in line 1",
        "recipe.yaml:6: name: given twice; first in line 1",
    ]


def test_lines_of_keys():
    _, node = read_yaml("a: 1\nb:\n  - x: 1\n  - x: 1\n    y: 2\n", "recipe.yaml")
    assert line_of(node, ("a",)) == (1, 1)
    assert line_of(node, ("b", 0, "x")) == (3, 3)
    assert line_of(node, ("b", 1, "y")) == (5, 3)
    assert line_of(node, ("b", 1, "z")) == (4, 2)
    assert line_of(node, ("b", 7)) == (2, 1)
    assert line_of(node, ("c", 7)) == (1, 0)
    assert key_text(("b", 1, "y")) == "b[1].y"


@settings(derandomize=True, deadline=None, max_examples=200)
@given(TEXTS, TEXTS)
def test_what_is_written_is_read_by_us_and_by_yaml_1_1(text, other):
    value = {"k": [text, {"x": other}], "n": None, "f": 0.1, "e": 1e-7, "i": 3, "b": True}
    assert read_yaml(write_yaml(value), "x")[0] == value
    assert yaml.safe_load(write_yaml(value)) == value


@settings(derandomize=True, deadline=None, max_examples=200)
@given(TEXTS)
def test_a_scalar_is_one_line_and_holds_in_brackets(text):
    line = write_scalar(text)
    assert len(line.splitlines()) == 1
    for form, value in [("k: {}", text), ("k: [{}, b]", [text, "b"]), ("k: {{x: {}}}", {"x": text})]:
        assert read_yaml(form.format(line), "x")[0] == {"k": value}
