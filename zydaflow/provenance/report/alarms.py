"""What is suspicious."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import ranked
from zydaflow.provenance.report.markup import element, fold, section
from zydaflow.recipe import Recipe

QUIET = "removes_none"  # most rules do nothing to most datasets
LEAD = "What a person should look at before the corpus is used. Alarms warn; they change nothing."


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    loud = [alarm for alarm in statistics["alarms"] if alarm["kind"] != QUIET]
    items = [element("li", element("b", alarm["dataset"]), f": {alarm['message']}", class_="alarm") for alarm in loud]
    limit = statistics["clusters"]["compare_limit_met"]
    if limit:
        items.append(element("li", f"The limit of comparisons in a band was met {limit:,} times.", class_="alarm"))
    shown = element("ul", items, class_="alarms") if items else element("p", "No alarm.", class_="well")
    return section("alarms", "Alarms", LEAD, shown, _idle(statistics))


def _idle(statistics: dict[str, Any]) -> Element | None:
    """One line per dataset on its rules that removed nothing."""
    lines = []
    for name, _ in ranked(statistics):
        idle = [a["rule"] for a in statistics["alarms"] if a["kind"] == QUIET and a["dataset"] == name]
        if idle:
            lines.append(
                element("li", element("b", name), f": {len(idle)} ", element("small", ", ".join(sorted(idle))))
            )
    return fold("Rules that removed nothing, by dataset", element("ul", lines)) if lines else None
