"""Duplicates: which dataset lost documents to which, and how alike they are."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import compared, ranked, share, tokens
from zydaflow.provenance.made_of import deduplication
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.report import clusters
from zydaflow.provenance.report.markup import Child, element, section, table
from zydaflow.recipe import Recipe

LOST = (
    "A row loses documents, whose kept copies are in the columns. Shade: share of the row's documents that were read."
)
ALIKE = (
    "Documents of the row that share a band with some document of the column and are verified similar to it, whichever "
    "of the two stays; on the diagonal with another one of the same dataset. At least so many: only what the passes "
    "link is compared, and in a band the first eight of a dataset with all later ones. Shade: share of the row's "
    "documents that the rules leave."
)

Json = dict[str, Any]


def part(statistics: Json, recipe: Recipe) -> Element:
    """The section."""
    content: list[Element] = []
    if recipe.dedup:
        content.append(_matrix("Who lost documents to whom", LOST, "lost by ↓ to →", statistics, "losses", _read))
        if statistics["matches"]:
            content.append(_matrix("How alike the datasets are", ALIKE, "of ↓ like →", statistics, "matches", compared))
        content += clusters.parts(statistics)
    return section("duplicates", "Duplicates", deduplication(recipe), content)


def _read(dataset: Json) -> int:
    documents: int = dataset["read"]["documents"]
    return documents


def _matrix(title: str, lead: str, corner: str, statistics: Json, key: str, whole_of: Callable[[Json], int]) -> Element:
    """A cell for each two datasets; what only columns have are indexes."""
    counts, names = statistics[key], [name for name, _ in ranked(statistics)]
    indexes = sorted({to for of in counts.values() for to in of} - set(names))
    rows: list[list[Child]] = [
        [
            name,
            *(_cell(counts.get(name, {}).get(to), whole_of(dataset), name == to) for to in (*names, *indexes)),
        ]
        for name, dataset in ranked(statistics)
    ]
    matrix = table([corner, *names, *indexes], rows, f"matrix {key}")
    return element("div", element("h3", title), element("p", lead), matrix)


def _cell(count: Json | None, whole: int, own: bool) -> Element:
    class_ = " own" if own else ""
    if not count:
        return element("td", "·", class_=f"figure none{class_}")
    of_it = [share(count["documents"], whole), megabytes(count["bytes"]), tokens(count) and f"{tokens(count)} tokens"]
    return element(
        "td",
        f"{count['documents']:,}",
        [element("small", note) for note in of_it if note],
        class_=f"figure shade duplicates{class_}",
        style=f"--shade:{(count['documents'] / whole) ** 0.5:.3f}",
    )
