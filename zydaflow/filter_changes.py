"""Changes of rules as people ask for them, RULE=VALUE or a key of the recipe, over what a run has measured."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from zydaflow.errors import RecipeError
from zydaflow.filters import AnyRule, Composite, resolve, signals_needed
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.recipe.yamltext import read_yaml
from zydaflow.signals import SIGNALS
from zydaflow.suggest import nearest

KEYS = ("filters", "datasets", "language", "licenses")  # of the recipe: what decides, among what is measured
HOW_TO_MEASURE = "run the recipe with filters that name it; `zydaflow signals` says which rule sets do"

Rules = dict[str, tuple[AnyRule, ...]]  # by dataset


class Changed(NamedTuple):
    """The recipe that is asked for, its rules by dataset, and what people must be told about them."""

    recipe: Recipe
    rules: Rules
    notes: tuple[str, ...]


def changed(recipe: Recipe, changes: Sequence[str], filters: Sequence[str] | None) -> Changed:
    """The rules of every dataset after the changes.

    `filters` take the place of the recipe's. A change is `KEY=VALUE`, with a key of the recipe that says which
    documents stay, like `datasets.blog.filters=[c4]`; these come first. Or it is `RULE=VALUE`, where null drops the
    rule; NAME.RULE is one in a composite. A rule that no dataset has (`SIGNAL.min`, `SIGNAL.max`) is added, as the last
    one, wherever its signal was measured, but for datasets with `filters: []`. Raises RecipeError for what is none of
    this, and for signals that were not measured.
    """
    asked = [_Change.read(change) for change in changes]
    of_rules = {change.name: change for change in asked if not change.is_of_recipe}
    stored = {dataset.name: {*signals_needed(recipe, dataset), "license"} for dataset in recipe.datasets}
    after = _overridden(recipe, [change.text for change in asked if change.is_of_recipe], filters)
    notes = list(_other_steps(recipe, after))
    there = {one.name for of in _resolved(after).values() for rule in of for one in (rule, *rule.within())}
    for change in of_rules.values():
        if change.name not in there:
            after, told = _with(after, change, stored, there)
            notes += told
    rules = {name: tuple(_changed(of, of_rules)) for name, of in _resolved(after).items()}
    for name, of in rules.items():
        if lacking := sorted({column for rule in of for column in rule.columns} - stored[name]):
            raise RecipeError(f"{name}: not measured: {', '.join(lacking)}; {HOW_TO_MEASURE}")
    return Changed(after, rules, tuple(notes))


def _resolved(recipe: Recipe) -> Rules:
    return {dataset.name: resolve(recipe, dataset) for dataset in recipe.datasets}


class _Change(NamedTuple):
    text: str
    name: str
    value: Any

    @classmethod
    def read(cls, text: str) -> "_Change":
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RecipeError(f"--set {text}: write RULE=VALUE, like zyda.mean_word_length.max=10")
        return cls(text, name.strip(), read_yaml(value, f"--set {text}")[0])

    @property
    def is_of_recipe(self) -> bool:
        return re.split(r"[.[]", self.name)[0] in KEYS and self.signal is None

    @property
    def signal(self) -> str | None:
        """The signal that it is a bound on."""
        signal, _, side = self.name.rpartition(".")
        numeric = side in ("min", "max") and signal in SIGNALS and SIGNALS[signal].kind not in ("label", "text")
        return signal if numeric else None

    def wrong(self, what: str) -> RecipeError:
        return RecipeError(f"--set {self.text}: {what}")

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a bound is a number, or null for no such rule")
        return float(self.value)

    def labels(self) -> tuple[str, ...]:
        if not isinstance(self.value, list) or not all(isinstance(label, str) for label in self.value):
            raise self.wrong("this rule takes a list of labels, like [en, de], or null for no such rule")
        return tuple(self.value)


def _overridden(recipe: Recipe, overrides: Sequence[str], filters: Sequence[str] | None) -> Recipe:
    """The recipe with other filters and keys. Raises RecipeError where more than the choice of documents changes."""
    fields = recipe.model_dump(mode="json")
    if filters is not None:
        if all(dataset.filters is not None for dataset in recipe.datasets):
            names = ", ".join(f"datasets.{dataset.name}.filters" for dataset in recipe.datasets)
            raise RecipeError(f"--filters: every dataset has filters of its own; change them by --set: {names}")
        fields["filters"] = list(filters)
    after = load_recipe(fields, overrides)
    if _measured(after) != _measured(recipe):
        raise RecipeError(
            f"--set {' '.join(overrides)}: this changes more than which documents stay; a question may "
            "change filters, datasets.NAME.filters, licenses, language.keep and language.min_score"
        )
    return after


def _measured(recipe: Recipe) -> dict[str, Any]:
    """The recipe without what decides."""
    fields = recipe.model_dump(exclude={"filters": True, "licenses": True, "language": {"keep", "min_score"}})
    for dataset in fields["datasets"]:
        del dataset["filters"]
    return fields


def _other_steps(recipe: Recipe, after: Recipe) -> Iterator[str]:
    """Where other rule sets would bring other text steps: signals are of the text as the run's steps left it."""
    for before, then in zip(recipe.datasets, after.datasets, strict=True):
        steps = recipe.transform_of(before)
        if steps != after.transform_of(then):
            yield (
                f"{before.name}: measured with the text steps of the run; a recipe with these rules needs "
                f"transform: [{', '.join(steps)}] to come to the same."
            )


def _with(
    recipe: Recipe, change: _Change, stored: Mapping[str, set[str]], there: Collection[str]
) -> tuple[Recipe, list[str]]:
    """The recipe with a rule that it did not have, and which datasets could not have it."""
    signal, side = change.signal, change.name.rpartition(".")[2]
    fit = [dataset for dataset in recipe.datasets if dataset.filters != ()]
    measured = [dataset for dataset in fit if signal in stored[dataset.name]]
    if signal is None or change.value is None:
        raise change.wrong(f"there is no such rule{nearest(change.name, there)}")
    if not measured:
        raise change.wrong(f"{signal} was not measured; {HOW_TO_MEASURE}")
    fields = recipe.model_dump(mode="json")
    for dataset in measured:
        own = fields["datasets"][recipe.datasets.index(dataset)]
        filters = fields["filters"] if own["filters"] is None else own["filters"]
        own["filters"] = [*filters, {"signal": signal, side: change.number()}]
    lacking = [dataset.name for dataset in fit if dataset not in measured]
    told = [f"{change.name} is not added to {', '.join(lacking)}: not measured there."] if lacking else []
    return load_recipe(fields), told


def _changed(rules: Iterable[AnyRule], changes: Mapping[str, _Change]) -> Iterator[AnyRule]:
    """The rules with other bounds, without those that are dropped, and so in composites."""
    for rule in rules:
        change = changes.get(rule.name)
        if change is not None and change.value is None:
            continue
        if isinstance(rule, Composite):
            if change is not None:
                raise change.wrong(f"{rule.name} has no bound, but its parts have: {', '.join(_names(rule))}")
            parts = tuple(_changed(rule.parts, changes))
            if parts:
                yield replace(rule, parts=parts)
        elif change is not None:
            yield replace(rule, bound=change.number() if rule.test in ("min", "max") else change.labels())
        else:
            yield rule


def _names(composite: Composite) -> list[str]:
    return [part.name for part in composite.within()]
