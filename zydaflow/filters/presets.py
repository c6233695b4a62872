"""Rule sets: those of the package, each a YAML file in the folder `presets`, and those that recipes bring."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from zydaflow.errors import RecipeError
from zydaflow.filters.build import rules_of, subject, variant
from zydaflow.filters.rules import AnyRule
from zydaflow.recipe import Filter, RuleSetSpec
from zydaflow.recipe.part import plain
from zydaflow.recipe.yamltext import read_yaml
from zydaflow.suggest import nearest

FOLDER = resources.files("zydaflow.filters") / "presets"


class Preset(NamedTuple):
    """A rule set."""

    source: str
    rules: tuple[AnyRule, ...]
    reports: tuple[str, ...]  # signals that are measured with it and never a reason to remove


def preset_names() -> list[str]:
    """The names of the package's rule sets."""
    return sorted(file.name.removesuffix(".yaml") for file in FOLDER.iterdir() if file.name.endswith(".yaml"))


@cache
def preset(name: str) -> Preset:
    """The package's rule set of that name. Raises RecipeError, with the nearest name, if there is none."""
    return _built(_spec(name))


def sets_of(filters: Sequence[Filter]) -> Iterator[Preset]:
    """The rule sets among filters, in order, each without what is to be left out of it.

    Raises RecipeError for an unknown rule set, and for something to leave out that it does not have.
    """
    for item in filters:
        if isinstance(item, str):
            yield preset(item)
        elif isinstance(item, RuleSetSpec):
            yield _built(item if item.rules is not None else _given(item))


def _given(spec: RuleSetSpec) -> RuleSetSpec:
    """A rule set of the package with what the recipe says of it."""
    return _spec(spec.set).model_copy(update={"without": spec.without, "words": spec.words})


@cache
def _spec(name: str) -> RuleSetSpec:
    if name not in preset_names():
        raise RecipeError(f"filters: there is no rule set {name!r}{nearest(name, preset_names())}")
    content, _ = read_yaml((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")
    return RuleSetSpec.model_validate(plain({"set": name, **content}))


def _built(spec: RuleSetSpec) -> Preset:
    """Names of what is left out are those that the set itself has, however words are split."""
    left_out, known = set(spec.without), set(spec.reports)
    rules: list[AnyRule] = []
    for item in spec.rules or ():
        named = rules_of(item)
        known |= {subject(item), *(rule.name for rule in named)}
        split = zip(named, rules_of(item, spec.words), strict=True)
        rules += [rule for plain, rule in split if not left_out & {plain.name, subject(item)}]
    for name in spec.without:
        if name not in known:
            raise RecipeError(f"filters: the rule set {spec.set} has no {name!r} to go without{nearest(name, known)}")
    reports = tuple(variant(name, spec.words) for name in spec.reports if name not in left_out)
    return Preset(spec.source, tuple(rules), reports)
