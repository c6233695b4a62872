"""What if: how many documents, bytes and tokens a run would keep under other rules, from its stored signals."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from zydaflow.filter_changes import changed
from zydaflow.filters import AnyRule, merge
from zydaflow.provenance.figures import threshold
from zydaflow.provenance.filter_whatif import CASES, Effect, effect
from zydaflow.provenance.outcomes import DUPLICATES
from zydaflow.provenance.run import Run, open_run
from zydaflow.storage import AnyPath

Json = dict[str, Any]

STAY = ("pending", "written")  # what deduplication leaves


def filter_whatif(out: AnyPath, changes: Sequence[str] = (), filters: Sequence[str] | None = None) -> Json:
    """What a run would keep under other rules, and what each of them would remove:

        {"datasets": {NAME: {"rules": {"now": N, "then": N}, "corpus": {"now": N, "then": N},
                             "removes": {RULE: {"keeps": TEXT, "was": TEXT, "at_all": N, "first": N, "alone": N}},
                             "dropped": {RULE: TEXT}}},
         "total": {"rules": …, "corpus": …}, "estimated": [NAME, …], "notes": [TEXT, …]}

    N is {"documents": n, "bytes": n, "tokens": n}: "tokens_estimated" where they are an estimate, by the tokens per
    byte of the dataset's corpus, or else of all; neither where nothing was tokenized. `rules` are documents that the
    rules leave. `corpus` is what deduplication leaves of them: of a dataset the same share then as now, so that
    what is in `estimated` is an estimate. The cases of a rule are told at `provenance.filter_whatif.Effect`; `was` is
    there only where its bound was another one, and empty for a new rule.

    Args:
        out: the folder of a run that has measured its datasets; it needs no `work/`, and nothing in it changes.
        changes: each `RULE=VALUE` or `KEY=VALUE`; see `filter_changes.changed`.
        filters: in place of the recipe's `filters`.

    Raises RecipeError for what cannot be asked, InputError for what the run does not hold.
    """
    run = open_run(out)
    asked = changed(run.recipe, changes, filters)
    total = run.statistics["total"]["outcomes"]
    datasets: Json = {}
    for name, rules in asked.rules.items():
        outcomes = run.statistics["datasets"][name]["outcomes"]
        found = effect(run, name, rules)
        datasets[name] = {
            **_left(outcomes, total, found),
            "removes": _removes(run.rules(name), rules, found, _tokenized(outcomes, total)),
            "dropped": _dropped(run.rules(name), rules),
        }
    sums = reduce(merge, ({part: of[part] for part in ("rules", "corpus")} for of in datasets.values()))
    compared = [spec.name for spec in run.recipe.datasets if run.recipe.dedup and spec.dedup and not spec.frozen]
    return {"datasets": datasets, "total": sums, "estimated": compared, "notes": list(asked.notes)}


def kept_by_bound(run: Run, rule: str, bounds: Sequence[float]) -> pa.Table:
    """What the rules of a run would leave with one of them at other bounds.

    A row per bound and dataset: `bound`, `dataset`, `documents`, `bytes` and `tokens`, which are estimated, and null
    where nothing was tokenized. Raises as `filter_whatif` does.
    """
    rows = [
        {"bound": bound, "dataset": name, "tokens": count.get("tokens_estimated"), **count}
        for bound in bounds
        for name, of in filter_whatif(run.root, [f"{rule}={bound}"])["datasets"].items()
        for count in [of["rules"]["then"]]
    ]
    counts = [pa.field(name, pa.int64()) for name in ("documents", "bytes", "tokens")]
    return pa.Table.from_pylist(rows, pa.schema([("bound", pa.float64()), ("dataset", pa.string()), *counts]))


def _left(outcomes: Json, total: Json, found: Effect) -> Json:
    """What rules, and deduplication after them, leave of a dataset, now and then."""
    known = _tokenized(outcomes, total)
    kept = _sum(outcomes, (*STAY, *DUPLICATES))
    stays, of = (
        (_sum(outcomes, STAY), kept) if kept["documents"] else (_sum(total, STAY), _sum(total, (*STAY, *DUPLICATES)))
    )
    then = dict(zip(kept, found.kept.tolist(), strict=True))
    corpus = {unit: then[unit] * stays[unit] // max(1, of[unit]) for unit in then}
    now = _sum(outcomes, STAY)
    tokens = {"tokens": outcomes["written"]["tokens"]} if known["tokens"] else {}
    return {
        "rules": {"now": _estimated(kept, known), "then": _estimated(then, known)},
        "corpus": {"now": now | tokens, "then": _estimated(corpus, known)},
    }


def _removes(before: Sequence[AnyRule], rules: Sequence[AnyRule], found: Effect, known: Json) -> Json:
    """Rule by rule, in order, what goes."""
    was = {rule.name: rule for rule in before}
    removes: Json = {}
    for rule, counts in zip(rules, found.removed.tolist(), strict=True):
        removes[rule.name] = {"keeps": threshold(rule.to_json())}
        if rule != was.get(rule.name):
            removes[rule.name]["was"] = threshold(was[rule.name].to_json()) if rule.name in was else ""
        for case, (documents, size) in zip(CASES, counts, strict=True):
            removes[rule.name][case] = _estimated({"documents": documents, "bytes": size}, known)
    return removes


def _dropped(before: Sequence[AnyRule], rules: Sequence[AnyRule]) -> Json:
    there = {rule.name for rule in rules}
    return {rule.name: threshold(rule.to_json()) for rule in before if rule.name not in there}


def _tokenized(outcomes: Json, total: Json) -> Json:
    """Documents whose tokens are known: the dataset's, or else those of all."""
    own = outcomes["written"]
    return own if own["tokens"] else total["written"]


def _estimated(count: Json, known: Json) -> Json:
    """The count with its tokens, rounded down."""
    if not known["tokens"]:
        return count
    return count | {"tokens_estimated": count["bytes"] * known["tokens"] // known["bytes"]}


def _sum(outcomes: Json, which: Iterable[str]) -> dict[str, int]:
    return {unit: sum(outcomes[outcome][unit] for outcome in which) for unit in ("documents", "bytes")}
