"""What became of the documents of each dataset: as bars, and in numbers."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import outcomes_met, ranked, share, tokens
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.outcomes import OUTCOMES
from zydaflow.provenance.report.markup import Child, element, section, table
from zydaflow.recipe import Recipe

LEAD = (
    "Every record that was read has exactly one outcome. Bytes are those of the text as loaded; tokens with ≈ are "
    "estimated from them, for what was never tokenized."
)


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    met = outcomes_met(statistics)
    datasets = ranked(statistics)
    every = [*datasets, ("all datasets", statistics["total"])] if len(datasets) > 1 else datasets
    legend = element("p", [_key(outcome) for outcome in met], class_="legend")
    head = ["dataset", "documents, and below them bytes", "read", "text", "written", "share", "tokens"]
    bars = table(head, [_bars(name, dataset) for name, dataset in every], "bars")
    counts = [_numbers(name, dataset, met) for name, dataset in every]
    numbers = table(["dataset", "read", *(_words(outcome) for outcome in met)], counts, "numbers")
    return section("outcomes", "What became of the documents", LEAD, legend, bars, numbers, _apart(datasets))


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")


def _key(outcome: str) -> Element:
    return element("span", element("i", class_=outcome), _words(outcome))


def _bars(name: str, dataset: dict[str, Any]) -> list[Child]:
    read, written = dataset["read"], dataset["outcomes"]["written"]
    bars = element("td", _stack(dataset, "documents"), _stack(dataset, "bytes"), class_="stacks")
    kept = share(written["documents"], read["documents"])
    texts = [f"{read['documents']:,}", megabytes(read["bytes"]), f"{written['documents']:,}", kept, tokens(written)]
    return [name, bars, *(element("td", text, class_="figure") for text in texts)]


def _stack(dataset: dict[str, Any], unit: str) -> Element:
    """A bar of all outcomes, by documents or bytes."""
    whole = dataset["read"][unit]
    counts = {outcome: dataset["outcomes"][outcome][unit] for outcome in OUTCOMES}
    pieces = [
        element("i", class_=outcome, style=f"flex-grow:{count}", title=f"{_words(outcome)}: {count:,} {unit}")
        for outcome, count in counts.items()
        if count
    ]
    return element("div", pieces, class_=f"stack {unit}", title=f"{whole:,} {unit}")


def _numbers(name: str, dataset: dict[str, Any], met: list[str]) -> list[Child]:
    whole = dataset["read"]["documents"]
    cells = [
        _count(dataset["outcomes"][outcome], share(dataset["outcomes"][outcome]["documents"], whole)) for outcome in met
    ]
    return [name, _count(dataset["read"], ""), *cells]


def _count(count: dict[str, int], part: str) -> Element:
    """Documents; below them their share, bytes and tokens."""
    if not count["documents"]:
        return element("td", "–", class_="figure none")
    size = megabytes(count["bytes"]) if count["bytes"] else ""
    lines = [" · ".join(text for text in (part, size) if text), f"{tokens(count)} tokens" if tokens(count) else ""]
    return element("td", f"{count['documents']:,}", [element("small", line) for line in lines if line], class_="figure")


def _apart(datasets: list[tuple[str, dict[str, Any]]]) -> Element | None:
    """What is counted beside the outcomes, where there is any of it."""
    told = {
        "sampled_out": "records were left out by the sample, and not read",
        "repaired": "texts held bytes or surrogates that are no Unicode, now U+FFFD",
        "wordless": "kept documents have no words, and were not compared",
        "unprocessed": "unreadable records have a text that could not be processed; the quarantine tells why",
        "unreadable_file_bytes": "bytes in the files belong to records that cannot be read",
    }
    notes = [
        element("li", f"{name}: {dataset[key]:,} {what}")
        for name, dataset in datasets
        for key, what in told.items()
        if dataset.get(key)
    ]
    return element("ul", notes, class_="apart") if notes else None
