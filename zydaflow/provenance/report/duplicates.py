"""Duplicates: which dataset lost documents to which, and how large the clusters are."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import ranked, share, size_class
from zydaflow.provenance.made_of import deduplication
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.report.markup import Child, element, section, table
from zydaflow.recipe import Recipe

LEAD = "{:,} clusters of documents that candidate pairs link, whether they stay or go. Length: square root of clusters."


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    content = [_overlap(statistics), _clusters(statistics["clusters"])] if recipe.dedup else []
    return section("duplicates", "Duplicates", deduplication(recipe.dedup), content)


def _overlap(statistics: dict[str, Any]) -> Element:
    datasets = ranked(statistics)
    names = [name for name, _ in datasets]
    rows: list[list[Child]] = [
        [name, *(_lost(dataset, statistics, name, to) for to in names)] for name, dataset in datasets
    ]
    return element(
        "div",
        element("h3", "Who lost documents to whom"),
        element(
            "p", "A row loses documents, whose kept copies are in the columns. Shade: share of the row's documents."
        ),
        table(["lost by ↓ to →", *names], rows, "matrix"),
    )


def _lost(dataset: dict[str, Any], statistics: dict[str, Any], loser: str, keeper: str) -> Element:
    count = statistics["losses"].get(loser, {}).get(keeper)
    own = " own" if loser == keeper else ""
    if not count:
        return element("td", "·", class_=f"figure none{own}")
    whole = dataset["read"]["documents"]
    notes = [element("small", note) for note in (share(count["documents"], whole), megabytes(count["bytes"]))]
    shade = (count["documents"] / whole) ** 0.5
    title = f"{loser} lost {count['documents']:,} documents to {keeper}"
    return element(
        "td",
        f"{count['documents']:,}",
        notes,
        class_=f"figure shade duplicates{own}",
        style=f"--shade:{shade:.3f}",
        title=title,
    )


def _clusters(clusters: dict[str, Any]) -> Element:
    sizes = sorted(clusters["sizes"].items(), key=lambda item: int(item[0]))
    most = max((count for _, count in sizes), default=1)
    rows: list[list[Child]] = [
        [
            size_class(size),
            element("td", f"{count:,}", class_="figure"),
            element("td", _bar(count, most), class_="wide"),
        ]
        for size, count in sizes
    ]
    return element(
        "div",
        element("h3", "Sizes of clusters"),
        element(
            "p",
            LEAD.format(clusters["count"]),
        ),
        table(["documents", "clusters", ""], rows, "sizes") if rows else None,
    )


def _bar(count: int, most: int) -> Element:
    return element("i", class_="bar", style=f"width:{100 * (count / most) ** 0.5:.1f}%")
