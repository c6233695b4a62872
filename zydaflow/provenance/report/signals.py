"""How each signal is distributed in each dataset, with the thresholds of the rules drawn in."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.distributions import Row, by_signal, is_flat
from zydaflow.provenance.figures import share
from zydaflow.provenance.report.histograms import ridges
from zydaflow.provenance.report.markup import element, fold, section
from zydaflow.recipe import Recipe
from zydaflow.signals import SIGNALS

LABELS = 6  # named per dataset, the most frequent
LEAD = (
    "Blue: documents that break no rule; orange on top: those that break some rule. Height is the square root of the "
    "count, so that tails show; each dataset is scaled to its own largest bin. Red: thresholds, and the side that goes."
)


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section: signals of rules first, then those only reported; those without any spread are folded away."""
    rows = by_signal(statistics, recipe)
    if not rows:
        return section("signals", "Signals", "The recipe has no rules, so nothing was measured.")
    flat = [name for name in rows if SIGNALS[name].kind != "label" and is_flat(rows[name])]
    cards = [_card(name, rows[name]) for name in rows if name not in flat]
    rest = [_card(name, rows[name]) for name in flat]
    folded = fold(f"{len(flat)} signals that are alike for all documents", element("div", rest, class_="cards"))
    return section("signals", "Signals", LEAD, element("div", cards, class_="cards"), folded if flat else None)


def _card(name: str, rows: list[Row]) -> Element:
    signal = SIGNALS[name]
    title = element("figcaption", element("b", name), f" {signal.unit}", element("small", signal.specification))
    return element("figure", title, _labels(rows) if signal.kind == "label" else ridges(signal, rows))


def _labels(rows: list[Row]) -> Element:
    """The most frequent labels of each dataset, with how many of their documents break no rule."""
    lines = [part for row in rows for part in (element("dt", row.dataset), element("dd", _label_line(row)))]
    return element("dl", lines, class_="labels")


def _label_line(row: Row) -> str:
    whole = sum(row.all.values()) + row.null
    often = sorted(row.all.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{label} {share(count, whole)} ({row.kept.get(label, 0):,} kept)" for label, count in often[:LABELS]]
    rest = [f"{len(often) - LABELS} other labels"] if len(often) > LABELS else []
    null = [f"undetermined {share(row.null, whole)}"] if row.null else []
    return ", ".join([*told, *rest, *null])
