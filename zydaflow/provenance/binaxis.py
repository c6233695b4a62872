"""An axis on which every bin of a signal is equally wide: bin i, between the edges i - 1 and i, lies at i to i + 1."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zydaflow.provenance.distributions import Row
from zydaflow.signals.signal import Signal

DIGITS = 5  # an edge with more of them gets no label


def extent(signal: Signal, rows: Sequence[Row]) -> tuple[int, int]:
    """From the first to behind the last bin that holds something or has a threshold, and at least four bins."""
    filled = [place for row in rows for place, count in enumerate(row.all) if count]
    bounds = [boundary(signal, rule) for row in rows for rule in row.rules]
    low = math.floor(min([*filled, *bounds], default=0))
    high = math.ceil(max([*filled, *bounds], default=0)) + 1
    return low, max(high, low + 4)


def boundary(signal: Signal, rule: dict[str, Any]) -> float:
    """Where on the axis removal begins: for a max of integers at the next integer."""
    value = rule["bound"] + 1 if signal.kind == "integer" and rule["test"] == "max" else rule["bound"]
    above = int(np.searchsorted(signal.bins, value, side="right"))
    if above in (0, len(signal.bins)):
        return float(above)
    low, high = signal.bins[above - 1], signal.bins[above]
    return above + float((value - low) / (high - low))


def ticks(signal: Signal, low: int, high: int, distance: float) -> list[tuple[str, int]]:
    """(label, place) of edges that are at least `distance` bins apart, the roundest first."""
    edges = [(float(value), place) for place, value in enumerate(signal.bins, 1) if low <= place <= high]
    chosen: list[tuple[str, int]] = []
    for value, place in sorted(edges, key=lambda edge: (_roundness(edge[0]), edge[0])):
        if _roundness(value)[1] <= DIGITS and all(abs(place - other) >= distance for _, other in chosen):
            chosen.append((_short(value), place))
    return chosen


def _roundness(value: float) -> tuple[bool, int, int]:
    """Powers of ten before numbers of few digits, and of few decimals."""
    text = f"{value:.6g}".split("e")[0]
    digits = text.replace(".", "").strip("0")
    return digits not in ("", "1"), len(digits), len(text.partition(".")[2])


def _short(value: float) -> str:
    """An edge in few letters: 10k, 1M."""
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.2g}" if value < 1 else f"{value:.3g}"
