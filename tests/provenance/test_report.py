import copy
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from small import EXPECTED, HOSTILE

from zydaflow import Run, load_recipe, open_run
from zydaflow.provenance import report
from zydaflow.provenance.outcomes import OUTCOMES
from zydaflow.provenance.report.rules import visible

VOID = ("meta", "br", "hr", "img", "link")


class Page(HTMLParser):
    """The page as a browser reads it: which elements, what text, which cells; fails for an element left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self.open_rows: list[list[str]] = []  # more than one where a table lies in a cell
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.open_rows.append([])
            self.rows.append(self.open_rows[-1])
        elif tag in ("td", "th"):
            self.open_rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "tr":
            self.open_rows.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        if "td" in self.open or "th" in self.open:
            self.open_rows[-1][-1] += data


@pytest.fixture(scope="module")
def run(small_run: Path) -> Run:
    return open_run(small_run)


@pytest.fixture(scope="module")
def page(small_run: Path) -> Page:
    return Page((small_run / "report" / "index.html").read_text(encoding="utf-8"))


def test_the_page_needs_no_script_and_no_network(page: Page) -> None:
    assert "script" not in page.tags
    assert {"link", "img", "iframe", "object", "form"}.isdisjoint(page.tags)
    links = [value for name, value in page.attributes if name in ("href", "src", "action", "xlink:href")]
    assert links
    assert all(link and link.startswith("#") for link in links)
    assert not any(name.startswith("on") for name, _ in page.attributes)


def test_a_hostile_text_is_shown_as_text(page: Page) -> None:
    assert page.text.count(HOSTILE) == 1  # as a sample of the rule that it breaks


def test_the_waterfall_holds_every_outcome(page: Page) -> None:
    head = next(row for row in page.rows if row[:2] == ["dataset", "read"] and "filtered" in row)
    assert head[2:] == ["unreadable", "null", "empty", "filtered", "removed within", "removed across", "written"]
    rows = page.rows[page.rows.index(head) + 1 :][:3]
    for name, cells in zip(("a", "b"), rows, strict=False):
        assert cells[0] == name
        for outcome, cell in zip(EXPECTED[name].values(), cells[2:], strict=True):
            assert cell.startswith(str(outcome) if outcome else "–")
    assert [row[0] for row in rows] == ["a", "b", "all datasets"]
    assert rows[2][-1].startswith("44")


def test_a_rule_shows_its_counts_and_its_threshold(page: Page) -> None:
    row = next(row for row in page.rows if row[0].startswith("n_words.min") and len(row) == 7)
    assert [row[1], row[2], row[4], row[5]] == ["min 20", "31", "2", "2"]
    assert row[3].startswith("2")


def test_who_lost_documents_to_whom(page: Page) -> None:
    matrix = page.rows[page.rows.index(["lost by ↓ to →", "a", "b"]) + 1 :][:2]
    assert [[cell[0] for cell in row] for row in matrix] == [["a", "3", "·"], ["b", "6", "1"]]


def test_how_alike_the_datasets_are(page: Page) -> None:
    matrix = page.rows[page.rows.index(["of ↓ like →", "a", "b"]) + 1 :][:2]
    assert [[cell[0] for cell in row] for row in matrix] == [["a", "6", "6"], ["b", "6", "2"]]
    assert matrix[0][1].startswith("622.2 %")  # 6 of the 27 that the rules leave


def test_an_index_is_a_column_of_its_own(run: Run) -> None:
    statistics = copy.deepcopy(run.statistics)
    statistics["losses"]["a"]["index"] = {"documents": 2, "bytes": 300}
    page = Page(report.render(statistics, run.recipe))
    matrix = page.rows[page.rows.index(["lost by ↓ to →", "a", "b", "index"]) + 1 :][:2]
    assert [row[3] for row in matrix] == ["25.9 %300 B", "·"]


def test_sizes_of_clusters(page: Page) -> None:
    sizes = page.rows[page.rows.index(["documents", "all", "a", "b"]) + 1 :][:2]
    assert sizes == [["1", "·", "6", "6"], ["2 to 3", "10", "3", "1"]]


def test_the_largest_clusters_show_pairs_as_text(run: Run) -> None:
    statistics = copy.deepcopy(run.statistics)
    (first, *_) = statistics["clusters"]["largest"]
    place = {"dataset": "a", "file": "x.jsonl", "position": 7, "id": None}
    pair = {"kept": place | {"excerpt": "one <b>two</b> three"}, "removed": place | {"excerpt": "one <i>two</i> three"}}
    unknown = {"kept": place | {"excerpt": None}, "removed": place | {"excerpt": "alone"}}
    first["samples"] = [
        {"similarity": 0.5, "outcome": "removed_within", **pair},
        {"similarity": 1.0, "outcome": "removed_exact", **unknown},
    ]
    statistics["clusters"]["largest"] = [first]
    html = report.render(statistics, run.recipe)
    page = Page(html)
    shown = page.rows[page.rows.index(["similarity", "", "from", "beginning of the text"]) + 1 :][:4]
    assert shown == [
        ["0.5", "stays", "a: x.jsonl @ 7", "one <b>two</b> three"],
        ["", "removed within", "a: x.jsonl @ 7", "one <i>two</i> three"],
        ["1", "stays", "a: x.jsonl @ 7", ""],
        ["", "removed exact", "a: x.jsonl @ 7", "alone"],
    ]
    assert "&lt;<mark>b</mark>&gt;two&lt;/<mark>b</mark>&gt; three" in html
    assert "&lt;<mark>i</mark>&gt;two&lt;/<mark>i</mark>&gt; three" in html


def test_idle_rules_are_one_line_for_each_dataset(page: Page) -> None:
    assert page.text.count("removes none of") == 0
    assert page.text.count("zyda.mean_word_length.max") == 2


def test_the_same_page_comes_from_the_file_of_statistics(run: Run, small_run: Path) -> None:
    assert report.render(run.statistics, run.recipe) == (small_run / "report/index.html").read_text(encoding="utf-8")


def test_statistics_are_strict_json(small_run: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads((small_run / "statistics.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_alarms_are_escaped_and_labels_are_listed(run: Run) -> None:
    statistics: dict[str, Any] = copy.deepcopy(run.statistics)
    alarm = {"dataset": "a", "rule": "n_words.min", "kind": "removes_language", "message": "all of <img src=x> & more"}
    statistics["alarms"].append(alarm)
    labels = {"all": {"en": 3, "<i>": 1}, "kept": {"en": 2}, "null": {"all": 4, "kept": 0}}
    statistics["datasets"]["a"]["signals"]["language"] = labels
    page = Page(report.render(statistics, run.recipe))
    assert "a: all of <img src=x> & more" in page.text
    assert "img" not in page.tags
    assert "en 37.5 % (2 kept), <i> 12.5 % (0 kept), undetermined 50.0 %" in page.text


def test_a_run_without_rules_and_duplicates_that_stopped_before_its_end(run: Run) -> None:
    statistics: dict[str, Any] = copy.deepcopy(run.statistics)
    statistics |= {"finished": False, "alarms": [], "losses": {}}
    for dataset in statistics["datasets"].values():
        dataset |= {"rules": {}, "signals": {}}
    recipe = run.recipe.model_copy(update={"filters": (), "dedup": None})
    page = Page(report.render(statistics, recipe))
    assert "The run stopped before its end" in page.text
    assert "The recipe has no rules" in page.text
    assert "Duplicates were not looked for." in page.text


def test_no_document_at_all(tmp_path: Path) -> None:
    none = {"documents": 0, "bytes": 0}
    outcomes = dict.fromkeys(OUTCOMES, none)
    apart = dict.fromkeys(("sampled_out", "repaired", "wordless", "unreadable_file_bytes"), 0)
    dataset = {"rank": 0, "read": none, "outcomes": outcomes, "rules": {}, "signals": {}, **apart}
    statistics = {
        "finished": True,
        "datasets": {"a": dataset},
        "total": {"read": none, "outcomes": outcomes},
        "losses": {},
        "matches": {},
        "clusters": {"count": 0, "sizes": {}, "by_dataset": {}, "largest": [], "compare_limit_met": 0},
        "alarms": [],
    }
    recipe = load_recipe({"name": "none", "datasets": [{"name": "a", "path": str(tmp_path)}]})
    assert "0 clusters" in Page(report.render(statistics, recipe)).text


def test_control_characters_are_made_visible() -> None:
    assert visible("a\r\nb\tc\x00\x7f") == "a⏎b␉c␀␡"
