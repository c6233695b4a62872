"""Alarms as lines for people."""

from itertools import groupby
from typing import Any

QUIET = "removes_none"  # most rules do nothing to most datasets: told apart, if at all

Alarm = dict[str, Any]


def alarm_lines(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    """(dataset, what) of every alarm but the quiet ones; those of one rule on many languages are one line."""
    loud = [alarm for alarm in statistics["alarms"] if alarm["kind"] != QUIET]
    return [
        (dataset, what)
        for (dataset, rule, kind), alarms in groupby(
            loud, key=lambda alarm: (alarm["dataset"], alarm["rule"], alarm["kind"])
        )
        for what in _lines(rule, kind, list(alarms))
    ]


def _lines(rule: str, kind: str, alarms: list[Alarm]) -> list[str]:
    if kind != "removes_language" or len(alarms) == 1:
        return [alarm["message"] for alarm in alarms]
    languages = ", ".join(alarm["language"] for alarm in alarms)
    return [f"{rule} removes nearly all documents in {len(alarms)} languages: {languages}"]


def limit_line(statistics: dict[str, Any]) -> str | None:
    """What to know where documents were compared with fewer than there were."""
    met = statistics["clusters"]["compare_limit_met"]
    return f"dedup.compare_limit was met {met:,} times: some pairs were not compared" if met else None


def idle_rules(statistics: dict[str, Any], dataset: str) -> list[str]:
    """The dataset's rules that removed nothing, by name."""
    return sorted(a["rule"] for a in statistics["alarms"] if a["kind"] == QUIET and a["dataset"] == dataset)
