"""The statistics of a run as tables for a terminal."""

from typing import Any

import orjson

from zydaflow.errors import InputError
from zydaflow.provenance.figures import share, tokens
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.outcomes import OUTCOMES
from zydaflow.provenance.run_file import RECIPE, STATISTICS
from zydaflow.provenance.told_alarms import alarm_lines, limit_line
from zydaflow.recipe import load_recipe
from zydaflow.storage import AnyPath, path_of


def statistics_text(out: AnyPath) -> str:
    """`statistics.json` as it is. Raises InputError where there is none."""
    try:
        return (path_of(out) / STATISTICS).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{out}: there are no statistics ({error.strerror or error}); has `zydaflow run` come to its end there?"
        ) from error


def load(out: AnyPath) -> dict[str, Any]:
    """`statistics.json` as a dictionary, the datasets by rank."""
    try:
        statistics = orjson.loads(statistics_text(out))
    except orjson.JSONDecodeError as error:
        raise InputError(f"{out}/{STATISTICS} is damaged ({error}); delete it and run the recipe again") from error
    ranked = sorted(statistics["datasets"].items(), key=lambda item: item[1]["rank"])
    return {**statistics, "datasets": dict(ranked)}


def render(out: AnyPath) -> str:
    """What became of the documents of each dataset: documents, bytes and tokens by outcome, and the alarms."""
    statistics = load(out)
    unfinished = "" if statistics["finished"] else "This run has not come to its end.\n\n"
    tables = [_waterfall(name, dataset) for name, dataset in statistics["datasets"].items()]
    if len(tables) > 1:
        tables.append(_waterfall("all datasets", statistics["total"]))
    alarms = [f"warning: {dataset}: {what}" for dataset, what in alarm_lines(statistics)]
    alarms += [f"warning: {line}" for line in [limit_line(statistics)] if line]
    return unfinished + "\n\n".join(tables) + ("\n\n" + "\n".join(alarms) if alarms else "")


def _waterfall(name: str, dataset: dict[str, Any]) -> str:
    read = dataset["read"]
    rows = [(f"{name}: read", read, "")]
    rows += [
        (f"  {outcome.replace('_', ' ')}", count, share(count["documents"], read["documents"]))
        for outcome in OUTCOMES
        if (count := dataset["outcomes"][outcome])["documents"]
    ]
    lines = [
        f"{label:<28} {count['documents']:>12,} {share:>7} {megabytes(count['bytes']):>10} {tokens(count):>16}"
        for label, count, share in rows
    ]
    apart = {
        "sampled_out": "left out by the sample",
        "repaired": "not valid UTF-8: repaired",
        "unprocessed": "unreadable: not processed",
    }
    for key, what in apart.items():
        if dataset.get(key):
            lines.append(f"{f'  ({what})':<28} {dataset[key]:>12,}")
    return "\n".join([f"{'':<28} {'documents':>12} {'share':>7} {'text':>10} {'tokens':>16}", *lines])


def render_rules(out: AnyPath) -> str:
    """What each rule did in each dataset: documents it saw, broke it at all, broke it first, broke nothing else."""
    from zydaflow.provenance.distributions import rules_in_order  # which needs the rules, and so the signals

    sections = []
    for name, rules in rules_in_order(load(out), load_recipe(path_of(out) / RECIPE)).items():
        if not rules:
            continue
        head = f"{name + ': rules':<48} {'seen':>10} {'at all':>10} {'first':>10} {'alone':>10}"
        lines = [
            f"  {rule:<38} {_bound(counts['rule']):>7} "
            + " ".join(
                f"{counts[case]['documents']:>10,}"
                for case in ("seen", "broken_at_all", "broken_first", "broken_alone")
            )
            for rule, counts in rules.items()
        ]
        sections.append("\n".join(["", head, *lines]))
    return "\n".join(sections)


def _bound(rule: dict[str, Any]) -> str:
    bound = rule.get("bound", f"{rule['test']} of {len(rule.get('parts', ()))}")
    if isinstance(bound, int | float):
        return f"{bound:g}"
    return (bound if isinstance(bound, str) else ",".join(bound))[:8]
