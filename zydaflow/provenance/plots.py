"""Pictures of a run for notebooks, by matplotlib, which comes with the extra `notebook`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zydaflow.errors import InputError
from zydaflow.filter_what_if import kept_by_bound
from zydaflow.filters import Rule
from zydaflow.provenance.binaxis import boundary, extent, ticks
from zydaflow.provenance.distributions import Row, by_signal, is_flat
from zydaflow.provenance.figures import compared, threshold
from zydaflow.provenance.queries import matches, overlap, rule_counts
from zydaflow.provenance.run import Run
from zydaflow.signals import SIGNALS
from zydaflow.signals.signal import Signal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEPT, FILTERED, BOUND, LOST = "#2f6fb3", "#e39a2d", "#c8402f", "Purples"
TICKS = 9  # on an axis, at most
LABELS = 12  # languages drawn, the most frequent


def _figure(rows: int, height: float, **options: Any) -> tuple["Figure", list["Axes"]]:
    """A figure of axes below one another. Raises InputError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("pictures need matplotlib; run: pip install 'zydaflow[notebook]'") from error
    figure = Figure(figsize=(9, height), layout="constrained")
    return figure, list(figure.subplots(rows, 1, squeeze=False, **options)[:, 0])


def signals_with_spread(run: Run) -> list[str]:
    """The signals to look at: those that differ between documents, those of rules first."""
    rows = by_signal(run.statistics, run.recipe)
    return [name for name, of in rows.items() if SIGNALS[name].kind == "label" or not is_flat(of)]


def distribution(run: Run, name: str) -> "Figure":
    """One signal in every dataset, bin by bin: documents that break no rule, on top those that do, and the thresholds.

    Height is the square root of the count, each dataset to its own largest bin.
    """
    signal, rows = SIGNALS[name], by_signal(run.statistics, run.recipe)[name]
    figure, axes = _figure(len(rows), 1.2 + 0.42 * len(rows), sharex=True)
    draw = _draw_labels if signal.kind == "label" else _draw_bins
    draw(signal, rows, axes)
    for row, axis in zip(rows, axes, strict=True):
        axis.set_ylabel(row.dataset, rotation=0, ha="right", va="center")
        axis.set_yticks([])
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(bottom=axis is axes[-1])
    figure.suptitle(f"{name} ({signal.unit})", x=0.01, ha="left")
    return figure


def _draw_bins(signal: Signal, rows: list[Row], axes: list["Axes"]) -> None:
    low, high = extent(signal, rows)
    for row, axis in zip(rows, axes, strict=True):
        for counts, color in ((row.all, FILTERED), (row.kept, KEPT)):
            axis.stairs(np.sqrt(counts), np.arange(len(counts) + 1), fill=True, color=color)
        for rule in row.rules:
            axis.axvline(boundary(signal, rule), color=BOUND)
            axis.axvspan(boundary(signal, rule), low if rule["test"] == "min" else high, color=BOUND, alpha=0.08, lw=0)
    for text, place in {(threshold(rule), boundary(signal, rule)) for row in rows for rule in row.rules}:
        axes[0].annotate(text, (place, 1.02), xycoords=("data", "axes fraction"), color=BOUND, ha="center", va="bottom")
    marks = sorted(ticks(signal, low, high, (high - low) / TICKS), key=lambda mark: mark[1])
    axes[-1].set_xticks([place for _, place in marks], [label for label, _ in marks])
    axes[-1].set_xlim(low, high)


def _draw_labels(signal: Signal, rows: list[Row], axes: list["Axes"]) -> None:
    total: dict[str, int] = {}
    for row in rows:
        for label, count in row.all.items():
            total[label] = total.get(label, 0) + count
    labels = sorted(total, key=lambda label: (-total[label], label))[:LABELS]
    for row, axis in zip(rows, axes, strict=True):
        for counts, color in ((row.all, FILTERED), (row.kept, KEPT)):
            axis.bar(labels, [counts.get(label, 0) ** 0.5 for label in labels], color=color)


def rule_bars(run: Run) -> "Figure":
    """Documents of all datasets that break each rule at all, first, and alone; rules that none breaks are left out."""
    sums = [(case, "sum") for case in ("at_all", "first", "alone")]
    rules = rule_counts(run).group_by("rule", use_threads=False).aggregate(sums)
    active = [rule for rule in rules.to_pylist() if rule["at_all_sum"]]
    figure, (axis,) = _figure(1, 1.4 + 0.42 * len(active))
    places = np.arange(len(active))
    for offset, (case, color) in enumerate((("at_all", "#f1cb98"), ("first", FILTERED), ("alone", BOUND))):
        bars = axis.barh(places + 0.27 * (offset - 1), [rule[f"{case}_sum"] for rule in active], 0.25, color=color)
        bars.set_label(case.replace("_", " "))
        axis.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    axis.set_yticks(places, [rule["rule"] for rule in active])
    axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_xlabel("documents")
    axis.legend(frameon=False, loc="lower right")
    return figure


def bound_curve(run: Run, rule: str, bounds: Sequence[float]) -> "Figure":
    """The share of each dataset that the rules would leave with one of them at other bounds; red: as it is.

    Lines are shares of the text, dashed ones of the documents.
    """
    kept = kept_by_bound(run, rule, bounds).to_pylist()
    figure, (axis,) = _figure(1, 3.2)
    for color, name in enumerate(run.datasets):
        rows, read = [row for row in kept if row["dataset"] == name], run.statistics["datasets"][name]["read"]
        for unit, style, label in (("bytes", "o-", name), ("documents", ":", None)):
            shares = [row[unit] / max(1, read[unit]) for row in rows]
            axis.plot([row["bound"] for row in rows], shares, style, color=f"C{color}", label=label)
    for of in {of for name in run.datasets for of in run.rules(name) if of.name == rule}:
        if isinstance(of, Rule) and not isinstance(of.bound, tuple):
            axis.axvline(of.bound, color=BOUND)
    axis.set(xlabel=rule, ylabel="share that stays", ylim=(0, 1.02))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    return figure


def overlap_map(run: Run) -> "Figure":
    """Who lost documents to whom: the number, and as shade its share of the losing dataset's documents."""
    read = [run.statistics["datasets"][name]["read"]["documents"] for name in run.datasets]
    return _map(run.datasets, overlap(run), read, ("lost by", "kept in", "share of the losing dataset"))


def match_map(run: Run) -> "Figure":
    """How alike the datasets are: documents of a row with a similar one in the column, and their share as shade."""
    left = [compared(run.statistics["datasets"][name]) for name in run.datasets]
    return _map(
        run.datasets, matches(run), left, ("documents of", "similar to some of", "share of what the rules leave")
    )


def _map(names: list[str], counts: np.ndarray, of: list[int], labels: tuple[str, str, str]) -> "Figure":
    """A cell for each two datasets: the count, and its share of the row's documents."""
    shares = counts / np.maximum(1, of)[:, None]
    figure, (axis,) = _figure(1, 2.4 + 0.5 * len(names))
    image = axis.imshow(np.sqrt(shares), cmap=LOST, vmin=0, vmax=1, aspect="auto")
    for row, column in zip(*np.nonzero(counts), strict=True):
        dark = shares[row, column] > 0.36
        text = f"{counts[row, column]:,}\n{shares[row, column]:.1%}"
        axis.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
    axis.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axis.set_yticks(range(len(names)), names)
    axis.set(ylabel=labels[0], xlabel=labels[1])
    edges = np.arange(len(names) + 1) - 0.5
    axis.vlines(edges, edges[0], edges[-1], color="#dfe3e8", lw=0.6)
    axis.hlines(edges, edges[0], edges[-1], color="#dfe3e8", lw=0.6)
    marks = [0, 0.01, 0.1, 0.25, 0.5, 1]
    bar = figure.colorbar(image, ticks=np.sqrt(marks), label=labels[2])
    bar.ax.set_yticklabels([f"{mark:.0%}" for mark in marks])
    return figure
