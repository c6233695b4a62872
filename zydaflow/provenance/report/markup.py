"""Pages as trees of elements, so that text is escaped by what writes them out, and nowhere else."""

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Child = Element | str | None


def element(tag: str, *children: Child | Iterable[Child], **attributes: Any) -> Element:
    """An element with what it holds; nothing for None. `class_` is class, `stroke_width` is stroke-width."""
    node = Element(tag, {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()})
    for child in children:
        for part in [child] if child is None or isinstance(child, str | Element) else child:
            _append(node, part)
    return node


def _append(node: Element, child: Child) -> None:
    if isinstance(child, Element):
        node.append(child)
    elif child and len(node):
        node[-1].tail = (node[-1].tail or "") + child
    elif child:
        node.text = (node.text or "") + child


def table(head: Sequence[Child], rows: Iterable[Sequence[Child]], class_: str = "") -> Element:
    """A table whose first column names its rows. A cell may be a `td` or `th` already."""
    header = element("tr", [_cell("th", cell, scope="col") for cell in head])
    body = [
        element(
            "tr", [_cell("td" if at else "th", cell, **({} if at else {"scope": "row"})) for at, cell in enumerate(row)]
        )
        for row in rows
    ]
    whole = element("table", element("thead", header), element("tbody", body), class_=class_)
    return element("div", whole, class_="scroll")


def _cell(tag: str, content: Child, **attributes: str) -> Element:
    if isinstance(content, Element) and content.tag in ("td", "th"):
        return content
    return element(tag, content, **attributes)


def section(name: str, title: str, lead: str, *content: Child | Iterable[Child]) -> Element:
    """A part of the page with its heading, and a sentence on how to read it."""
    return element("section", element("h2", title), element("p", lead, class_="lead"), *content, id=name)


def fold(summary: Child, *content: Child | Iterable[Child], **attributes: str) -> Element:
    """What shows only its summary until it is opened."""
    return element("details", element("summary", summary), *content, **attributes)


def to_html(root: Element) -> str:
    """The whole page."""
    return "<!DOCTYPE html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
