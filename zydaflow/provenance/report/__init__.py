"""The report: one page that says what became of every document, and why. It needs no network and no script."""

from importlib import resources
from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance.figures import duplicates as duplicated
from zydaflow.provenance.figures import share, tokens
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.report import alarms, duplicates, origin, outcomes, rules, signals
from zydaflow.provenance.report.markup import element, to_html
from zydaflow.recipe import Recipe

PARTS = (outcomes.part, alarms.part, rules.part, signals.part, duplicates.part, origin.part)


def render(statistics: dict[str, Any], recipe: Recipe) -> str:
    """The report on a run as an HTML page: the contents of `statistics.json`, and the recipe that led to them."""
    parts = [part(statistics, recipe) for part in PARTS]
    style = resources.files("zydaflow.provenance.report").joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{recipe.name}: report"),
        element("style", style),
    )
    links = [element("a", _heading(part), href=f"#{part.get('id')}") for part in parts]
    body = element("body", _header(statistics, recipe), element("nav", links), element("main", parts))
    return to_html(element("html", head, body, lang="en"))


def _heading(part: Element) -> str:
    return part.findtext("h2", "")


def _header(statistics: dict[str, Any], recipe: Recipe) -> Element:
    state = "" if statistics["finished"] else "The run stopped before its end: what is pending has no outcome yet."
    return element(
        "header",
        element("p", "zydaflow report", class_="kicker"),
        element("h1", recipe.name),
        element("p", state, class_="unfinished") if state else None,
        element("div", [_tile(*tile) for tile in _tiles(statistics)], class_="tiles"),
    )


def _tiles(statistics: dict[str, Any]) -> list[tuple[str, str, str]]:
    read, of = statistics["total"]["read"], statistics["total"]["outcomes"]
    written, whole = of["written"], read["documents"]
    files = len(statistics["datasets"])
    return [
        ("read", f"{whole:,}", f"documents, {megabytes(read['bytes'])}, {files} dataset{'s' if files != 1 else ''}"),
        (
            "filtered",
            f"{of['filtered']['documents']:,}",
            f"{share(of['filtered']['documents'], whole)} of the documents",
        ),
        (
            "duplicates",
            f"{duplicated(of):,}",
            f"{share(duplicated(of), whole)}, in {statistics['clusters']['count']:,} clusters",
        ),
        ("written", f"{written['documents']:,}", f"documents, {share(written['documents'], whole)}"),
        ("corpus", tokens(written) or megabytes(written["bytes"]), "tokens" if tokens(written) else "of text"),
    ]


def _tile(name: str, figure: str, note: str) -> Element:
    return element(
        "div",
        element("span", name, class_="name"),
        element("strong", figure),
        element("span", note, class_="note"),
        class_=f"tile {name}",
    )
