"""Rule sets by name, as data: each is a YAML file in the folder `presets`."""

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import yaml

from zydaflow.errors import RecipeError
from zydaflow.filters.rules import Rule
from zydaflow.suggest import nearest

FOLDER = resources.files("zydaflow.filters") / "presets"


class Preset(NamedTuple):
    """A rule set."""

    source: str
    rules: tuple[Rule, ...]
    reports: tuple[str, ...]  # signals that are measured with it and never a reason to remove


def bounds(signal: str, minimum: float | None, maximum: float | None) -> list[Rule]:
    """A rule for each bound that is given: `<signal>.min`, `<signal>.max`."""
    rules = [] if minimum is None else [Rule(f"{signal}.min", signal, "min", float(minimum))]
    return rules if maximum is None else [*rules, Rule(f"{signal}.max", signal, "max", float(maximum))]


def preset_names() -> list[str]:
    """The names of all rule sets."""
    return sorted(file.name.removesuffix(".yaml") for file in FOLDER.iterdir() if file.name.endswith(".yaml"))


@cache
def preset(name: str) -> Preset:
    """The rule set of that name. Raises RecipeError, with the nearest name, if there is none."""
    if name not in preset_names():
        raise RecipeError(f"filters: there is no rule set {name!r}{nearest(name, preset_names())}")
    content: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    rules = [rule for spec in content["rules"] for rule in bounds(spec["signal"], spec.get("min"), spec.get("max"))]
    return Preset(content["source"], tuple(rules), tuple(content["reports"]))
