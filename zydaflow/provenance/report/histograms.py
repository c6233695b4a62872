"""Histograms as SVG: a row for each dataset over one axis, on which every bin is equally wide."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from zydaflow.provenance.binaxis import boundary, extent, ticks
from zydaflow.provenance.distributions import Row
from zydaflow.provenance.figures import threshold
from zydaflow.provenance.report.markup import element
from zydaflow.signals.signal import Signal

WIDTH, LEFT, RIGHT = 620, 118, 12  # of the picture, the names, and the right margin, in SVG units
TOP, ROW, FOOT = 18, 26, 20
TICK_DISTANCE = 46
NAME = 17  # characters of a dataset's name


class _Axis(NamedTuple):
    """Bins `low` to `high` - 1 over the width."""

    low: int
    high: int

    @property
    def bin(self) -> float:
        return (WIDTH - LEFT - RIGHT) / (self.high - self.low)

    def x(self, place: float) -> float:
        return LEFT + (min(max(place, self.low), self.high) - self.low) * self.bin


def ridges(signal: Signal, rows: Sequence[Row]) -> Element:
    """The picture."""
    axis = _Axis(*extent(signal, rows))
    bottom = TOP + ROW * len(rows)
    shapes = [shape for number, row in enumerate(rows) for shape in _row(signal, row, axis, TOP + ROW * (number + 1))]
    return element(
        "svg",
        [*_ticks(signal, axis, bottom), *shapes, *_labels(signal, rows, axis)],
        viewBox=f"0 0 {WIDTH} {bottom + FOOT}",
        role="img",
        aria_label=f"{signal.name} by dataset",
    )


def _row(signal: Signal, row: Row, axis: _Axis, base: float) -> Iterator[Element]:
    for rule in row.rules:
        at, end = boundary(signal, rule), axis.low if rule["test"] == "min" else axis.high
        left, right = sorted((axis.x(at), axis.x(end)))
        yield element("rect", x=f"{left:.1f}", y=base - ROW, width=f"{right - left:.1f}", height=ROW, class_="gone")
        yield element("line", x1=f"{axis.x(at):.1f}", x2=f"{axis.x(at):.1f}", y1=base - ROW, y2=base, class_="bound")
    most = max(*row.all, 1)
    for case, counts in (("all", row.all), ("kept", row.kept)):
        yield element("path", d=_outline(counts, most, axis, base), class_=case)
    yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=base, y2=base, class_="base")
    short = row.dataset if len(row.dataset) <= NAME else f"{row.dataset[: NAME - 1]}…"
    yield element("text", short, element("title", row.dataset), x=LEFT - 8, y=base - 5, text_anchor="end")


def _outline(counts: Sequence[int], most: int, axis: _Axis, base: float) -> str:
    """The bars of one histogram as a path; where there is anything, a bar shows."""
    bars = []
    for place, count in enumerate(counts):
        if count:
            height = max(1.5, (ROW - 3) * (count / most) ** 0.5)
            left, right = axis.x(place), axis.x(place + 1)
            bars.append(f"M{left:.1f} {base}V{base - height:.1f}H{right:.1f}V{base}Z")
    return "".join(bars)


def _labels(signal: Signal, rows: Sequence[Row], axis: _Axis) -> Iterator[Element]:
    """Each threshold once, above the rows."""
    marks = {(threshold(rule), boundary(signal, rule)) for row in rows for rule in row.rules}
    for text, place in sorted(marks, key=lambda mark: mark[1]):
        x = axis.x(place)
        anchor = "end" if x > WIDTH - 5 * RIGHT else "middle"
        yield element("text", text, x=f"{x:.1f}", y=TOP - 5, text_anchor=anchor, class_="bound")


def _ticks(signal: Signal, axis: _Axis, bottom: float) -> Iterator[Element]:
    for label, place in ticks(signal, axis.low, axis.high, TICK_DISTANCE / axis.bin):
        x = f"{axis.x(place):.1f}"
        yield element("line", x1=x, x2=x, y1=TOP, y2=bottom + 3, class_="tick")
        yield element("text", label, x=x, y=bottom + 15, text_anchor="middle", class_="tick")
