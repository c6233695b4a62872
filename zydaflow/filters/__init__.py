"""Decide: rules over signals → verdicts with reasons."""

from zydaflow.filters.alarms import rule_alarms
from zydaflow.filters.presets import preset, preset_names
from zydaflow.filters.resolve import resolve, signals_needed
from zydaflow.filters.rules import Rule, judge
from zydaflow.filters.statistics import RuleStatistics, merge

__all__ = [
    "Rule",
    "RuleStatistics",
    "judge",
    "merge",
    "preset",
    "preset_names",
    "resolve",
    "rule_alarms",
    "signals_needed",
]
