"""What is suspicious."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import ranked
from zydaflow.provenance.report.markup import element, fold, section
from zydaflow.provenance.told_alarms import alarm_lines, idle_rules, limit_line
from zydaflow.recipe import Recipe

LEAD = (
    "What a person should look at before the corpus is used. Alarms warn and change nothing; with stop: true in the "
    "recipe's alarms they stop the run."
)


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    lines = alarm_lines(statistics)
    items = [element("li", element("b", dataset), f": {what}", class_="alarm") for dataset, what in lines]
    if line := limit_line(statistics):
        items.append(element("li", line, class_="alarm"))
    shown = element("ul", items, class_="alarms") if items else element("p", "No alarm.", class_="well")
    return section("alarms", "Alarms", LEAD, shown, _idle(statistics))


def _idle(statistics: dict[str, Any]) -> Element | None:
    """One line per dataset on its rules that removed nothing."""
    lines = []
    for name, _ in ranked(statistics):
        idle = idle_rules(statistics, name)
        if idle:
            lines.append(element("li", element("b", name), f": {len(idle)} ", element("small", ", ".join(idle))))
    return fold("Rules that removed nothing, by dataset", element("ul", lines)) if lines else None
