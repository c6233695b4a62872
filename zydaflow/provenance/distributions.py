"""The distributions of a run's signals, ordered for pictures."""

from typing import Any, NamedTuple

from zydaflow.filters import resolve
from zydaflow.provenance.figures import ranked
from zydaflow.recipe import Recipe

Json = dict[str, Any]


class Row(NamedTuple):
    """One signal in one dataset, as `RuleStatistics` counts it, with the rules on it (`Rule.to_json`)."""

    dataset: str
    all: Any  # counts over the signal's bins, or by label
    kept: Any  # the same for the documents that break no rule
    null: int  # documents without a value
    rules: list[Json]


def rules_in_order(statistics: Json, recipe: Recipe) -> dict[str, Json]:
    """Per dataset, by rank, its rules' statistics by name, in the order in which rules count as broken first."""
    specs = {spec.name: spec for spec in recipe.datasets}
    ordered = {}
    for name, dataset in ranked(statistics):
        names = [rule.name for rule in resolve(recipe, specs[name])]
        ordered[name] = {rule: dataset["rules"][rule] for rule in names if rule in dataset["rules"]}
    return ordered


def by_signal(statistics: Json, recipe: Recipe) -> dict[str, list[Row]]:
    """Per signal a row for each dataset that is measured by it: first the signals that have rules."""
    datasets = ranked(statistics)
    rules = {
        name: [counts["rule"] for counts in of.values()] for name, of in rules_in_order(statistics, recipe).items()
    }
    ruled = [rule["signal"] for of in rules.values() for rule in of if "signal" in rule]  # a composite has several
    measured = [signal for _, dataset in datasets for signal in sorted(dataset["signals"])]
    rows: dict[str, list[Row]] = {signal: [] for signal in dict.fromkeys([*ruled, *measured]) if signal in measured}
    for name, dataset in datasets:
        for signal, counts in dataset["signals"].items():
            bounds = [rule for rule in rules[name] if rule.get("signal") == signal]
            rows[signal].append(Row(name, counts["all"], counts["kept"], counts["null"]["all"], bounds))
    return rows


def is_flat(rows: list[Row]) -> bool:
    """Whether all documents of all datasets lie in one bin."""
    return sum(any(counts) for counts in zip(*(row.all for row in rows), strict=True)) <= 1
