"""What each rule did: over all datasets as a map, and per dataset in numbers with examples."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.distributions import rules_in_order
from zydaflow.provenance.figures import number, share, threshold
from zydaflow.provenance.report.markup import Child, element, fold, section, table
from zydaflow.recipe import Recipe

HEAD = ["rule", "keeps", "seen", "at all", "first", "alone", "at all ⊇ first ⊇ alone"]
CASES = ("broken_at_all", "broken_first", "broken_alone")
LANGUAGES = 8  # named per rule, those with the most removals
LEAD = (
    "A document is removed if it breaks any rule. At all: it breaks this one. First: and none before it, in the "
    "recipe's order. Alone: and no other, so that without this rule it would have stayed."
)


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    ordered = rules_in_order(statistics, recipe)
    if not any(ordered.values()):
        return section("rules", "Rules", "The recipe has no rules.")
    per_dataset = [_dataset(name, rules) for name, rules in ordered.items() if rules]
    return section("rules", "Rules", LEAD, _map(ordered), per_dataset)


def _map(ordered: dict[str, dict[str, Any]]) -> Element:
    """The share of documents that break each rule, per dataset; rules that no document breaks are left out."""
    names = list(dict.fromkeys(rule for rules in ordered.values() for rule in rules))
    datasets = [name for name, rules in ordered.items() if rules]
    rows: list[list[Child]] = []
    for rule in names:
        counts = [ordered[dataset].get(rule) for dataset in datasets]
        if any(count and count["broken_at_all"]["documents"] for count in counts):
            rows.append([rule, *(_share_cell(count) for count in counts)])
    if not rows:
        return element("p", "No document breaks a rule.", class_="well")
    return table(["broken at all", *datasets], rows, "matrix")


def _share_cell(count: dict[str, Any] | None) -> Element:
    if count is None:
        return element("td", title="no rule of this dataset", class_="absent")
    broken, seen = count["broken_at_all"]["documents"], count["seen"]["documents"]
    if not broken:
        return element("td", "·", class_="figure none")
    title = f"{broken:,} of {seen:,} documents; {threshold(count['rule'])}"
    style = f"--shade:{(broken / seen) ** 0.5:.3f}"
    return element("td", share(broken, seen), class_="figure shade filtered", style=style, title=title)


def _dataset(name: str, rules: dict[str, Any]) -> Element:
    active = {rule: counts for rule, counts in rules.items() if counts["broken_at_all"]["documents"]}
    most = max((counts["broken_at_all"]["documents"] for counts in active.values()), default=1)
    rows: list[list[Child]] = []
    for rule, counts in active.items():
        rows += [[rule, *_counts(counts, most)], [element("td", _details(counts), colspan=len(HEAD))]]
    idle = element("span", f"{len(rules) - len(active)} of {len(rules)} rules removed nothing")
    summary = element("span", element("b", name), idle)
    return fold(summary, table(HEAD, rows, "rules") if rows else None, open="", class_="dataset")


def _counts(counts: dict[str, Any], most: int) -> list[Element]:
    seen = counts["seen"]["documents"]
    figures = [f"{seen:,}", *(f"{counts[case]['documents']:,}" for case in CASES)]
    cells = [element("td", threshold(counts["rule"])), *(element("td", text, class_="figure") for text in figures)]
    cells[2].append(element("small", share(counts["broken_at_all"]["documents"], seen)))
    bars = [
        element("i", class_=f"bar {case}", style=f"width:{100 * counts[case]['documents'] / most:.1f}%")
        for case in CASES
    ]
    return [*cells, element("td", element("div", bars, class_="nested"), class_="wide")]


def _details(counts: dict[str, Any]) -> Element:
    samples = counts["samples"]
    rows = [_sample(sample) for sample in samples]
    head = [f"value ({threshold(counts['rule'])})", "from", "beginning of the text"]
    title = f"{len(samples)} example{'s' if len(samples) != 1 else ''}"
    return fold(title, _languages(counts["languages"]), table(head, rows, "samples"), class_="examples")


def _sample(sample: dict[str, Any]) -> list[Element]:
    value = "unknown" if sample["value"] is None else number(sample["value"])
    place = [f"{sample['file']} @ {sample['position']}", element("small", sample["id"]) if sample["id"] else None]
    excerpt = element("td", visible(sample["excerpt"] or ""), class_="excerpt", dir="auto")
    return [element("td", value, class_="figure"), element("td", place), excerpt]


def visible(text: str) -> str:
    """Text in one line: line ends as ⏎, other control characters as their pictures."""
    text = text.replace("\r\n", "\n").replace("\n", "⏎")
    return "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 else c for c in text).replace("\x7f", "␡")


def _languages(languages: dict[str, dict[str, int]]) -> Element | None:
    """Of which languages the rule removed most."""
    hit = sorted(
        (item for item in languages.items() if item[1]["broken"]), key=lambda item: (-item[1]["broken"], item[0])
    )
    told = [f"{label} {of['broken']:,} of {of['seen']:,}" for label, of in hit[:LANGUAGES]]
    return element("p", f"By language: {', '.join(told)}.") if told else None
