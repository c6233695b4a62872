"""Measure: text → columns of numbers."""

from zydaflow.signals.language import check_labels
from zydaflow.signals.records import measure_records
from zydaflow.signals.registry import MEASURES, SIGNALS, check_models, fingerprint, measure
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

__all__ = [
    "MEASURES",
    "SIGNALS",
    "Measure",
    "Resources",
    "Signal",
    "check_labels",
    "check_models",
    "fingerprint",
    "measure",
    "measure_records",
]
