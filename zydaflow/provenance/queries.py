"""Questions to a run whose answers are small tables."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.errors import InputError
from zydaflow.filters import Rule
from zydaflow.provenance.distributions import rules_in_order
from zydaflow.provenance.figures import threshold
from zydaflow.provenance.run import Run
from zydaflow.suggest import nearest

CASES = {"seen": "seen", "at_all": "broken_at_all", "first": "broken_first", "alone": "broken_alone"}


def rule_counts(run: Run) -> pa.Table:
    """A row per dataset and rule: `dataset`, `rule`, `keeps`; documents `seen`, broken `at_all`, `first`, `alone`."""
    rows = [
        {"dataset": name, "rule": rule, "keeps": threshold(counts["rule"])}
        | {column: counts[case]["documents"] for column, case in CASES.items()}
        for name, rules in rules_in_order(run.statistics, run.recipe).items()
        for rule, counts in rules.items()
    ]
    texts = [pa.field(name, pa.string()) for name in ("dataset", "rule", "keeps")]
    return pa.Table.from_pylist(rows, pa.schema([*texts, *(pa.field(column, pa.int64()) for column in CASES)]))


def near_threshold(run: Run, dataset: str, rule: str, count: int = 3) -> pa.Table:
    """The documents nearest to the bound of a min or max rule: up to `count` that break it, and as many that do not.

    Columns: `side` (removed, let by), `value`, `verdict` (a document may go by another rule), `file`, `position`, `id`,
    `excerpt`; from the farthest on the removed side to the farthest on the other. Raises InputError for no such rule.
    """
    known = {r.name: r for r in run.rules(dataset) if isinstance(r, Rule) and r.test in ("min", "max")}
    if rule not in known:
        raise InputError(f"{dataset} has no rule {rule!r} with a bound{nearest(rule, known)}")
    table = _by_distance(run, dataset, known[rule])
    broken = known[rule].breaks(table["value"])
    removed, let_by = (np.flatnonzero(side)[:count] for side in (broken, ~broken))
    sides = pa.array(["removed"] * len(removed) + ["let by"] * len(let_by))
    return table.take(np.concatenate([removed[::-1], let_by])).add_column(0, "side", sides)


def _by_distance(run: Run, dataset: str, rule: Rule) -> pa.Table:
    """The documents that were judged by the rule, the nearest to its bound first."""
    names = {"value": rule.signal, **{name: name for name in ("verdict", "file", "position", "id", "excerpt")}}
    table = run.signals(dataset, list(dict.fromkeys([*names.values(), *rule.columns])))
    table = table.filter(pa.array(rule.applies(table))).select(list(names.values())).rename_columns(list(names))
    for labels in ("verdict", "file"):  # dictionaries, which Arrow does not sort by
        table = table.set_column(table.column_names.index(labels), labels, table[labels].cast(pa.string()))
    judged = pc.is_in(table["verdict"], pa.array(["kept", "filtered"]))
    table = table.filter(pc.and_(judged, pc.is_valid(table["value"])))
    distance = pc.abs(pc.subtract(table["value"].cast(pa.float64()), rule.bound))
    keys = [(key, "ascending") for key in ("distance", "file", "position")]
    return table.append_column("distance", distance).sort_by(keys).drop_columns("distance")


def overlap(run: Run) -> np.ndarray:
    """Documents lost, int64 (d, d): row by row what the datasets, by rank, lost to each of them."""
    return _matrix(run, "losses")


def matches(run: Run) -> np.ndarray:
    """Documents, int64 (d, d): row by row how many of a dataset are similar to some of each, whichever stays."""
    return _matrix(run, "matches")


def _matrix(run: Run, key: str) -> np.ndarray:
    counts = run.statistics[key]
    rows = [[counts.get(a, {}).get(b, {}).get("documents", 0) for b in run.datasets] for a in run.datasets]
    return np.array(rows, np.int64)
