"""Clusters: how large they are in each dataset, and the largest ones with some of their pairs."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from math import log
from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import number, ranked, size_class
from zydaflow.provenance.report.markup import Child, element, fold, table
from zydaflow.provenance.report.rules import visible

SIZES = (
    "{:,} clusters of documents that candidate pairs link, whether they stay or go: by their size, and for a dataset "
    "by how many of its documents they hold. Length: logarithm of the clusters."
)
LARGEST = (
    "With the beginnings of both documents of the least similar, the median and the most similar removal. What is "
    "marked is in one of the two only."
)

Json = dict[str, Any]


def parts(statistics: Json) -> list[Element]:
    """Two subsections, the second where there are clusters."""
    largest = statistics["clusters"]["largest"]
    return [_sizes(statistics), *([_largest(largest)] if largest else [])]


def _sizes(statistics: Json) -> Element:
    """A row for each class of sizes, and a bar for all clusters and for those of each dataset."""
    clusters = statistics["clusters"]
    columns = {"all": clusters["sizes"]} | {
        name: clusters["by_dataset"].get(name, {}) for name, _ in ranked(statistics)
    }
    sizes = sorted({size for counts in columns.values() for size in counts}, key=int)
    most = {name: max(counts.values(), default=1) for name, counts in columns.items()}
    rows: list[list[Child]] = [
        [size_class(size), *(_count(counts.get(size, 0), most[name]) for name, counts in columns.items())]
        for size in sizes
    ]
    counted = table(["documents", *columns], rows, "sizes") if rows else None
    return element("div", element("h3", "Sizes of clusters"), element("p", SIZES.format(clusters["count"])), counted)


def _count(count: int, most: int) -> Element:
    if not count:
        return element("td", "·", class_="none")
    bar = element("i", class_="bar", style=f"width:{100 * log(1 + count) / log(1 + most):.1f}%")
    return element("td", f"{count:,}", bar)


def _largest(clusters: list[Json]) -> Element:
    return element(
        "div", element("h3", "The largest clusters"), element("p", LARGEST), [_cluster(cluster) for cluster in clusters]
    )


def _cluster(cluster: Json) -> Element:
    """What is known of one cluster, and its samples below."""
    held = ", ".join(f"{of['dataset']} {of['documents']:,}" for of in cluster["members"])
    told = [f"{cluster['size']:,} documents ({held})", f"{cluster['kept']:,} stay{'s' if cluster['kept'] == 1 else ''}"]
    if cluster["lowest_similarity"] is not None:
        lowest, median = number(cluster["lowest_similarity"]), number(cluster["median_similarity"])
        told.append(f"similarity of those that go: {lowest} at least, {median} in the median")
    if cluster["compare_limit_met"]:
        told.append(f"the limit of comparisons was met {cluster['compare_limit_met']:,} times")
    summary = element("span", element("b", cluster["cluster"]), element("span", "; ".join(told)))
    rows = [row for sample in cluster["samples"] for row in _sample(sample)]
    pairs = table(["similarity", "", "from", "beginning of the text"], rows, "samples pairs")
    return fold(summary, pairs, class_="dataset")


def _sample(sample: Json) -> Iterator[list[Child]]:
    """A row for the document that stays, and one for that which goes."""
    kept, removed = sample["kept"], sample["removed"]
    texts = _differences(kept["excerpt"], removed["excerpt"])
    yield [number(sample["similarity"]), *_document("stays", kept, texts[0])]
    yield ["", *_document(sample["outcome"].replace("_", " "), removed, texts[1])]


def _document(what: str, place: Json, text: list[Child]) -> list[Child]:
    where: list[Child] = [f"{place['dataset']}: {place['file']} @ {place['position']}"]
    if place["id"]:
        where.append(element("small", place["id"]))
    return [what, element("td", where), element("td", text, class_="excerpt", dir="auto")]


def _differences(one: str | None, other: str | None) -> tuple[list[Child], list[Child]]:
    """Both texts, with the words marked that differ; an index has none to compare with."""
    if one is None or other is None:
        return [one], [other]
    words = [re.findall(r"\w+|\W", visible(text)) for text in (one, other)]
    marked: tuple[list[Child], list[Child]] = ([], [])
    for change, *bounds in SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes():
        for text, into, start, stop in zip(words, marked, bounds[::2], bounds[1::2], strict=True):
            piece = "".join(text[start:stop])
            into.append(piece if change == "equal" else element("mark", piece) if piece else None)
    return marked
