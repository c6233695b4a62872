"""All signals that there are, what each means, and which rule sets use it."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from zydaflow.filters import AnyRule, Rule, preset, preset_names
from zydaflow.provenance.figures import threshold
from zydaflow.signals import SIGNALS, Signal
from zydaflow.signals.registry import FAMILIES

WIDTH = 100  # characters of a line

Json = dict[str, Any]


def list_signals(rule_set: str | None = None) -> Json:
    """Every signal, or those that a rule set uses:

        {"signals": [{"name", "kind", "unit", "specification", "source", "sets": {SET: [RULE, …]}}, …],
         "families": [the same, without "sets"], "sets": {SET: {"source": TEXT, "rules": n, "reports": n}}}

    RULE is the test of a document that stays, like `min 50`; a set that only reports the signal has none. A family's
    names are made up by recipes: NAME stands for theirs. Raises RecipeError for an unknown rule set.
    """
    presets = {name: preset(name) for name in ([rule_set] if rule_set else preset_names())}
    uses: dict[str, dict[str, list[str]]] = {}
    for set_name, of in presets.items():
        for rule, note in _single(of.rules):
            uses.setdefault(rule.signal, {}).setdefault(set_name, []).append(f"{threshold(rule.to_json())}{note}")
        for signal in of.reports:
            uses.setdefault(signal, {}).setdefault(set_name, [])
    known = _grouped([*SIGNALS, *(name for family in FAMILIES for name in family.names)])
    names = known if rule_set is None else [name for name in dict.fromkeys([*known, *uses]) if name in uses]
    families = [family for family in FAMILIES if not family.names] if rule_set is None else []
    return {
        "signals": [{**_told(SIGNALS[name]), "sets": uses.get(name, {})} for name in names],
        "families": [_told(family.signal(f"{family.prefix}NAME")) for family in families],
        "sets": {
            name: {"source": of.source, "rules": len(of.rules), "reports": len(of.reports)}
            for name, of in presets.items()
        },
    }


def _grouped(names: list[str]) -> list[str]:
    """Those that begin alike, up to the first dot, side by side."""
    beginnings = list(dict.fromkeys(name.partition(".")[0] for name in names))
    return sorted(names, key=lambda name: beginnings.index(name.partition(".")[0]))


def _single(rules: Iterable[AnyRule]) -> Iterator[tuple[Rule, str]]:
    """The rules, and those in composites; with a word on where they hold."""
    for rule in rules:
        for one in (rule, *rule.within()):
            if isinstance(one, Rule):
                only = f" for {', '.join(one.only)}" if one.only else ""
                yield one, only + (f" within {rule.name}" if one is not rule else "")


def _told(signal: Signal) -> Json:
    return {key: getattr(signal, key) for key in ("name", "kind", "unit", "specification", "source")}


def render(listed: Json) -> str:
    """The answer of `list_signals` for a terminal."""
    entries = [_entry(signal, _uses(signal["sets"])) for signal in listed["signals"]]
    entries += [_entry(family, "NAME is one that the recipe gives") for family in listed["families"]]
    return "\n\n".join([*entries, "\n".join(["Rule sets", *_sets(listed["sets"])])])


def _entry(signal: Json, note: str) -> str:
    lines = [signal["specification"], "; ".join(part for part in (f"Source: {signal['source']}", note) if part)]
    return "\n".join([f"{signal['name']}: {signal['kind']}, {signal['unit']}", *map(_wrapped, lines)])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _uses(sets: dict[str, list[str]]) -> str:
    uses = [f"{name}: {', '.join(tests) or 'reported'}" for name, tests in sets.items()]
    return f"in {', in '.join(uses)}" if uses else "in no rule set"


def _sets(sets: Json) -> Iterator[str]:
    for name, of in sets.items():
        counts = [_counted(of["rules"], "rule")]
        if of["reports"]:
            counts.append(f"{_counted(of['reports'], 'signal')} only reported")
        yield _wrapped(f"{name}: {', '.join(counts)}; {of['source']}")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
