"""Changes of rules as people ask for them, RULE=VALUE or a key of the recipe, over what a run has measured."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from zydaflow.errors import RecipeError
from zydaflow.filters import Rule, resolve, signals_needed
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.recipe.yamltext import read_yaml
from zydaflow.signals import SIGNALS
from zydaflow.suggest import nearest

KEYS = ("filters", "datasets", "language", "licenses")  # of the recipe: what decides, among what is measured
OF_EVERY_RECORD = ("license",)  # columns of the stored tables besides the signals

Rules = dict[str, tuple[Rule, ...]]  # by dataset


class Changed(NamedTuple):
    """The recipe that is asked for, its rules by dataset, and what people must be told about them."""

    recipe: Recipe
    rules: Rules
    notes: tuple[str, ...]


def changed(recipe: Recipe, changes: Sequence[str], filters: Sequence[str] | None) -> Changed:
    """The rules of every dataset after the changes, which are made in order.

    A change is `RULE=VALUE`, where a null drops the rule, or `KEY=VALUE` with a key of the recipe that says which
    documents stay, like `datasets.blog.filters=[c4]`. `filters` are those of the recipe. A rule that no dataset has
    (`SIGNAL.min`, `SIGNAL.max`) is added, as the last one, wherever its signal was measured, but for datasets with
    `filters: []`. Raises RecipeError for what is none of this, and for signals that were not measured.
    """
    asked = {change: _read(change) for change in changes}
    of_rules = [change for change, (key, _) in asked.items() if _names_rule(recipe, filters, key)]
    overrides = [change for change in changes if change not in of_rules]
    for change in overrides:
        _check_key(recipe, change, asked[change][0])
    after = _overridden(recipe, overrides, filters)
    rules = {dataset.name: resolve(after, dataset) for dataset in after.datasets}
    notes = list(_other_steps(recipe, after))
    for change in of_rules:
        rules, told = _with(recipe, rules, change, *asked[change])
        notes += told
    _check_measured(recipe, rules)
    return Changed(after, rules, tuple(notes))


def _read(change: str) -> tuple[str, Any]:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise RecipeError(f"--set {change}: write RULE=VALUE, like zyda.mean_word_length.max=10")
    return key.strip(), read_yaml(text, f"--set {change}")[0]


def _resolved(recipe: Recipe) -> set[str]:
    return {rule.name for dataset in recipe.datasets for rule in resolve(recipe, dataset)}


def _names_rule(recipe: Recipe, filters: Sequence[str] | None, key: str) -> bool:
    """Whether it is a rule of the run, or of the sets that are asked for, or a bound on a signal."""
    signal, _, side = key.rpartition(".")
    if side in ("min", "max") and signal in SIGNALS:
        return True
    return key in _resolved(_overridden(recipe, (), filters))


def _check_key(recipe: Recipe, change: str, key: str) -> None:
    if key.partition(".")[0].partition("[")[0] not in KEYS:
        names = {f"{signal}.{side}" for dataset in recipe.datasets for signal in signals_needed(recipe, dataset)
                 for side in ("min", "max")}  # fmt: skip
        raise RecipeError(f"--set {change}: there is no rule {key!r}{nearest(key, names | _resolved(recipe))}")


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


def _with(recipe: Recipe, rules: Rules, change: str, name: str, value: Any) -> tuple[Rules, list[str]]:
    """The rules with one of them at another bound, dropped, or added; and the datasets that could not have it."""
    having = [dataset for dataset, of in rules.items() if any(rule.name == name for rule in of)]
    if having:
        return rules | {dataset: _replaced(rules[dataset], change, name, value) for dataset in having}, []
    if value is None:
        raise RecipeError(f"--set {change}: there is no such rule to drop")
    signal, _, side = name.rpartition(".")
    fit = [dataset for dataset in recipe.datasets if dataset.filters != ()]
    measured = [dataset.name for dataset in fit if signal in signals_needed(recipe, dataset)]
    if not measured:
        raise RecipeError(f"--set {change}: {signal} was not measured; {_how_to_measure(recipe)}")
    rule = Rule(name, signal, side, _number(change, value))  # type: ignore[arg-type]
    lacking = [dataset.name for dataset in fit if dataset.name not in measured]
    told = [f"{name} is not added to {', '.join(lacking)}: {signal} was not measured there."] if lacking else []
    return rules | {dataset: (*rules[dataset], rule) for dataset in measured}, told


def _replaced(rules: tuple[Rule, ...], change: str, name: str, value: Any) -> tuple[Rule, ...]:
    if value is None:
        return tuple(rule for rule in rules if rule.name != name)
    return tuple(replace(rule, bound=_bound(rule, change, value)) if rule.name == name else rule for rule in rules)


def _bound(rule: Rule, change: str, value: Any) -> float | tuple[str, ...]:
    if rule.test in ("min", "max"):
        return _number(change, value)
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        raise RecipeError(f"--set {change}: {rule.name} takes a list of labels, like [{', '.join(rule.bound[:2])}]")  # type: ignore[index]
    return tuple(value)


def _number(change: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RecipeError(f"--set {change}: a bound is a number, or null for no such rule")
    return float(value)


def _check_measured(recipe: Recipe, rules: Rules) -> None:
    for dataset in recipe.datasets:
        there = {*signals_needed(recipe, dataset), *OF_EVERY_RECORD}
        lacking = sorted({rule.signal for rule in rules[dataset.name]} - there)
        if lacking:
            raise RecipeError(f"{dataset.name}: not measured: {', '.join(lacking)}; {_how_to_measure(recipe)}")


def _how_to_measure(recipe: Recipe) -> str:
    return f"run {recipe.name} once with filters that name them: `zydaflow signals` says which do"
