"""Rules from what recipes and rule sets say."""

from collections.abc import Iterator

from zydaflow.errors import RecipeError
from zydaflow.filters.rules import AnyRule, Composite, Rule, Test
from zydaflow.recipe import ColumnRule, CompositeSpec, RuleItem, RuleSpec
from zydaflow.signals import SIGNALS, metadata
from zydaflow.signals.registry import no_signal


def rules_of(item: RuleItem, words: str | None = None, within: str = "") -> list[AnyRule]:
    """The rules that make up an item, at least one: `SIGNAL.min`, `SIGNAL.max.LANGUAGE`, `metadata.COLUMN.allow`.

    Where a signal has a variant that splits `words` so, they are on that. Names begin with `within`. Raises RecipeError
    for an unknown signal, and for bounds on one without numbers.
    """
    if isinstance(item, CompositeSpec):
        name = within + item.name
        return [Composite(name, item.test, tuple(_one(part, words, f"{name}.") for part in item.parts))]
    if isinstance(item, RuleSpec):
        signal = variant(item.signal, words)
        _check_signal(signal)
        return list(_bounds(within + signal, signal, item))
    name, nulls = f"{within}metadata.{item.column}", item.nulls == "remove"
    if item.allow is not None:
        return [Rule(f"{name}.allow", metadata.text(item.column), "allow", item.allow, nulls)]
    if item.deny is not None:
        return [Rule(f"{name}.deny", metadata.text(item.column), "deny", item.deny, nulls)]
    return list(_bounds(name, metadata.number(item.column), item))


def variant(signal: str, words: str | None) -> str:
    """The signal over words that are split so, where it has such a variant; else itself."""
    return split if words and (split := f"{signal}.{words}") in SIGNALS else signal


def _one(item: RuleItem, words: str | None, within: str) -> AnyRule:
    """The item as one rule: its bounds together, where it has several."""
    rules = rules_of(item, words, within)
    return rules[0] if len(rules) == 1 else Composite(within + subject(item), "any", tuple(rules))


def subject(item: RuleItem) -> str:
    """What an item is about: its signal or column, or a composite's name."""
    if isinstance(item, CompositeSpec):
        return item.name
    return item.signal if isinstance(item, RuleSpec) else f"metadata.{item.column}"


def _bounds(name: str, signal: str, item: RuleSpec | ColumnRule) -> Iterator[Rule]:
    """A rule for each bound, those for the languages without bounds of their own first."""
    nulls, own = item.nulls == "remove", tuple(sorted(item.by_language))
    for label, of in (("", item), *sorted(item.by_language.items())):
        tests: tuple[tuple[Test, float | None], ...] = (("min", of.min), ("max", of.max))
        for test, bound in tests:
            if bound is not None:
                scope = {"only": (label,)} if label else {"but": own}
                yield Rule(f"{name}.{test}{label and f'.{label}'}", signal, test, float(bound), nulls, **scope)


def _check_signal(name: str) -> None:
    if name not in SIGNALS:
        raise RecipeError(f"filters: {no_signal(name)}")
    if SIGNALS[name].kind in ("label", "text"):
        raise RecipeError(f"filters: {name} is a label, without min or max; use language: {{keep: […]}}")
