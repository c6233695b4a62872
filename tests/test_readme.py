"""The README against what it speaks of: the commands that `.ci/run` takes from it, the recipe's keys, its examples."""

import argparse
import re
import stat
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from zydaflow import cli, recipe
from zydaflow.filters.presets import preset_names
from zydaflow.signals import SIGNALS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = ROOT / ".ci/run"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_ci_runs_the_readmes_own_commands() -> None:
    """It takes them from the README by the way they begin: each must be there once, and whole."""
    patterns = re.findall(r"""grep -m1 (?:'(\^[^']*)'|"(\^[^"]*)")""", CI.read_text(encoding="utf-8"))
    commands = [[line for line in README.splitlines() if re.match(one or two, line)] for one, two in patterns]
    assert commands == [
        ["pip install -e . && zydaflow run configs/sample.yaml"],
        ["pip install -e '.[test]' && pytest -n 2 --dist loadfile"],
    ]
    assert CI.stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        (recipe.Recipe, ""),
        (recipe.DatasetSpec, ""),
        (recipe.DedupSpec, ""),
        (recipe.AlarmSpec, "alarms."),
        (recipe.OutputSpec, "output."),
        (recipe.ResourceSpec, "resources."),
        (recipe.ScorerSpec, ""),
    ],
)
def test_every_key_of_the_recipe_is_told_with_its_default(model: type[BaseModel], prefix: str) -> None:
    told_in = section("Scorers" if model is recipe.ScorerSpec else "The recipe, key by key")
    rows = [row.split("|") for row in told_in.splitlines() if row.startswith("| `")]
    told = {key: row[2].strip().strip("`") for row in rows for key in re.findall(r"`([^`]+)`", row[1])}
    for name, field in model.model_fields.items():
        assert f"{prefix}{name}" in told
        if isinstance(field.default, bool | int | float | str):
            default = str(field.default).lower()
            size = recipe.format_size(field.default) if type(field.default) is int else None
            assert told[f"{prefix}{name}"] in (default, size), name


def test_every_command_and_option_is_told() -> None:
    told = section("The commands")
    commands = next(a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    for name, parser in commands.items():
        assert f"`zydaflow {name} " in told
        for action in parser._actions:
            if action.option_strings and action.dest != "help":
                assert any(option in told for option in action.option_strings), action.option_strings


def test_the_example_recipe_is_valid() -> None:
    (example,) = blocks("yaml")
    assert recipe.load_recipe(yaml.safe_load(example)).name == "two-blogs"


def test_the_python_examples_compile() -> None:
    for example in blocks("python"):
        compile(example, "README.md", "exec")


def test_every_group_of_signals_and_every_rule_set_is_told() -> None:
    told = section("Signals")
    assert [name for name in SIGNALS if f"`{name.partition('.')[0]}" not in told] == []
    assert [name for name in preset_names() if f"`{name}`" not in section("Rules")] == []
