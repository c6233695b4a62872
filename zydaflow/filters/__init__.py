"""Decide: rules over signals → verdicts with reasons."""

from zydaflow.filters.alarms import rule_alarms
from zydaflow.filters.columns import column_problems
from zydaflow.filters.presets import preset, preset_names
from zydaflow.filters.resolve import languages_named, resolve, signals_needed
from zydaflow.filters.rules import AnyRule, Composite, Rule, judge, reasons
from zydaflow.filters.statistics import RuleStatistics, merge

__all__ = [
    "AnyRule",
    "Composite",
    "Rule",
    "RuleStatistics",
    "column_problems",
    "judge",
    "languages_named",
    "merge",
    "preset",
    "preset_names",
    "reasons",
    "resolve",
    "rule_alarms",
    "signals_needed",
]
