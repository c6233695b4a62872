"""What if of filters: the answer from stored signals is that of a real run of the changed recipe."""

import json
from pathlib import Path
from typing import Any

import pytest
from inputs import recipe
from serial import Serial

from zydaflow import filter_whatif, open_run
from zydaflow.errors import InputError, RecipeError
from zydaflow.filter_what_if import kept_by_bound
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import Store
from zydaflow.provenance.domains import by_domain
from zydaflow.provenance.figures import threshold
from zydaflow.provenance.filter_whatif import CASES
from zydaflow.provenance.filter_whatif_tables import render
from zydaflow.provenance.outcomes import DUPLICATES
from zydaflow.stages.clean import clean

COUNTS = {"at_all": "broken_at_all", "first": "broken_first", "alone": "broken_alone"}
LENGTH = {"signal": "zyda.transformed_length", "min": 1200}
WORDS = {"signal": "n_words", "min": 5}


def _pinned(entries: list[dict]) -> list[dict]:
    """Datasets whose text steps do not follow from their filters."""
    return [entry | {"transform": ["zyda"]} for entry in entries]


def _compare(told: dict[str, Any], before: Path, after: Path) -> None:
    """The answer about `before` with the statistics of a real run."""
    now, then = waterfall.load(before)["datasets"], waterfall.load(after)["datasets"]
    for name, of in told["datasets"].items():
        for unit in ("documents", "bytes"):
            for which, statistics in (("now", now), ("then", then)):
                outcomes = statistics[name]["outcomes"]
                stays = outcomes["written"][unit] + outcomes["pending"][unit]
                removed = sum(outcomes[outcome][unit] for outcome in DUPLICATES)
                assert of["rules"][which][unit] == stays + removed
            assert of["corpus"]["now"][unit] == now[name]["outcomes"]["written"][unit]
        rules = then[name]["rules"]
        assert set(of["removes"]) == set(rules)
        for rule, counts in of["removes"].items():
            assert counts["keeps"] == threshold(rules[rule]["rule"])
            for case in CASES:
                told_count = {unit: counts[case][unit] for unit in ("documents", "bytes")}
                assert told_count == rules[rule][COUNTS[case]], (rule, case)


@pytest.mark.parametrize(
    ("changes", "filters", "then"),
    [
        ([], None, {}),
        (["n_words.min=150"], None, {"filters": ["zyda", {"signal": "n_words", "min": 150}]}),
        (["zyda.transformed_length.min=1200"], None, {"filters": ["zyda", WORDS, LENGTH]}),
        (["n_words.max=300"], None, {"filters": ["zyda", {"signal": "n_words", "min": 5, "max": 300}]}),
        (
            ["n_words.max=3", "n_words.max=300"],
            None,
            {"filters": ["zyda", {"signal": "n_words", "min": 5, "max": 300}]},
        ),
        ([], ["zyda"], {"filters": ["zyda"]}),
        ([], [], {"filters": []}),
        (["n_words.min=100"], [], {"filters": [{"signal": "n_words", "min": 100}]}),
        (["filters=[{signal: n_words, min: 100}]"], None, {"filters": [{"signal": "n_words", "min": 100}]}),
        (["licenses.allow=[mit]"], None, {"licenses": {"allow": ["mit"]}}),
        (["licenses={deny: [cc0-1.0]}", "license.deny=[MIT]"], None, {"licenses": {"deny": ["MIT"]}}),
    ],
)
def test_the_answer_is_that_of_a_real_run(
    serial: Serial, entries: list[dict], tmp_path: Path, changes: list[str], filters: list[str] | None, then: dict
) -> None:
    entries = _pinned(entries)
    out = serial.run(recipe(entries, tmp_path / "out", tokenizer=None))
    told = filter_whatif(out, changes, filters)
    _compare(told, out, serial.run(recipe(entries, tmp_path / "real", tokenizer=None, **then), until="measure"))
    assert told["estimated"] == ["a", "b", "c"]
    for of in told["datasets"].values():
        if of["rules"]["now"] == of["rules"]["then"]:
            assert _without_tokens(of["corpus"]["now"]) == _without_tokens(of["corpus"]["then"])
    assert render(told).count("\n") > 10


def _without_tokens(count: dict[str, int]) -> dict[str, int]:
    return {unit: count[unit] for unit in ("documents", "bytes")}


def test_of_composites_and_columns(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    def filters(most: int, denied: list[str]) -> list[Any]:
        odd = {"name": "odd", "all": [{"signal": "n_words", "max": most}, LENGTH]}
        column = {"column": "url", "deny": denied}
        return ["zyda", WORDS, odd, {"name": "either", "any": [column, {"signal": "n_words", "max": 390}]}]

    sets = _pinned([entries[1]])
    urls = [f"https://b.example/{k}" for k in range(9)]
    out = serial.run(recipe(sets, tmp_path / "out", tokenizer=None, filters=filters(200, urls[:2])))
    told = filter_whatif(out, ["odd.n_words.max=100", f"either.metadata.url.deny={json.dumps(urls)}"])
    changed = recipe(sets, tmp_path / "real", tokenizer=None, filters=filters(100, urls))
    _compare(told, out, serial.run(changed, until="measure"))
    assert told["datasets"]["b"]["removes"]["either"]["at_all"]["documents"] >= 9
    assert told["datasets"]["b"]["removes"]["odd"]["was"].startswith("all of (n_words max 200, ")
    told = filter_whatif(out, ["odd=null"])
    assert list(told["datasets"]["b"]["dropped"]) == ["odd"]
    told = filter_whatif(out, ["either.metadata.url.deny=null", "either.n_words.max=null"])
    assert list(told["datasets"]["b"]["dropped"]) == ["either"]
    with pytest.raises(RecipeError, match=r"odd has no bound, but its parts have: odd\.n_words\.max, odd\.zyda"):
        filter_whatif(out, ["odd=3"])


def test_domains_of_a_run(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    a, b, c = entries
    out = serial.run(recipe([a, b | {"url": "url"}, c], tmp_path / "out", tokenizer=None))
    table = by_domain(open_run(out))
    outcomes = waterfall.load(out)["datasets"]["b"]["outcomes"]
    row = next(row for row in table.to_pylist() if row["domain"] == "b.example")
    assert row["duplicates"] == sum(outcomes[outcome]["documents"] for outcome in DUPLICATES) > 0
    assert row["stays"] == outcomes["written"]["documents"] > 0
    assert row["stays_bytes"] == outcomes["written"]["bytes"]
    assert table["domain"].to_pylist() == [None, "b.example"]


def test_by_bound(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(entries, tmp_path / "out", tokenizer=None))
    table = kept_by_bound(open_run(out), "n_words.min", [0, 150.5])
    assert table["bound"].to_pylist() == [0] * 3 + [150.5] * 3
    assert table["dataset"].to_pylist() == ["a", "b", "c"] * 2
    then = filter_whatif(out, ["n_words.min=150.5"])["datasets"]
    assert table["documents"].to_pylist()[3:] == [of["rules"]["then"]["documents"] for of in then.values()]
    assert table["tokens"].null_count == 6


def test_of_one_dataset_alone_and_of_datasets_without_filters(
    serial: Serial, entries: list[dict], tmp_path: Path
) -> None:
    a, b, c = _pinned(entries)
    sets = [a, b | {"filters": [WORDS]}, c | {"filters": []}]
    out = serial.run(recipe(sets, tmp_path / "out", tokenizer=None))
    told = filter_whatif(out, ["datasets.b.filters=[{signal: n_words, min: 150}]", "n_words.max=300"])
    changed = {"signal": "n_words", "min": 150, "max": 300}
    real = [a | {"filters": ["zyda", WORDS | {"max": 300}]}, b | {"filters": [changed]}, c | {"filters": []}]
    _compare(told, out, serial.run(recipe(real, tmp_path / "real", tokenizer=None)))
    assert told["datasets"]["c"]["removes"] == {}
    assert "tokens" not in json.dumps(told)
    told = filter_whatif(out, ["zyda.pii_count.max=3"])
    assert told["notes"] == ["zyda.pii_count.max is not added to b: not measured there."]
    assert [name for name, of in told["datasets"].items() if "zyda.pii_count.max" in of["removes"]] == ["a"]
    assert told["datasets"]["a"]["removes"]["zyda.pii_count.max"]["was"] == ""


def test_without_deduplication_the_corpus_is_exact(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(_pinned(entries), tmp_path / "out", dedup=None))
    told = filter_whatif(out, ["n_words.min=150"])
    filters = ["zyda", {"signal": "n_words", "min": 150}]
    real = serial.run(recipe(_pinned(entries), tmp_path / "real", dedup=None, filters=filters))
    assert told["estimated"] == []
    for name, of in told["datasets"].items():
        written = waterfall.load(real)["datasets"][name]["outcomes"]["written"]
        assert _without_tokens(of["corpus"]["then"]) == _without_tokens(written)
        known = waterfall.load(out)["datasets"][name]["outcomes"]["written"]
        assert of["corpus"]["then"]["tokens_estimated"] == written["bytes"] * known["tokens"] // known["bytes"]
    assert told["total"]["rules"]["then"]["documents"] == sum(
        of["rules"]["then"]["documents"] for of in told["datasets"].values()
    )
    assert "corpus then is estimated" not in render(told)


def test_the_corpus_is_estimated_by_the_share_that_stays(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(entries, tmp_path / "out"))
    outcomes = waterfall.load(out)["datasets"]["b"]["outcomes"]
    compared = sum(outcomes[outcome]["documents"] for outcome in (*DUPLICATES, "written"))
    assert outcomes["written"]["documents"] < compared
    of = filter_whatif(out, ["n_words.min=150"])["datasets"]["b"]
    then = of["rules"]["then"]["documents"]
    assert 0 < then < compared
    assert of["corpus"]["then"]["documents"] == then * outcomes["written"]["documents"] // compared


def test_a_run_without_work_or_end_answers_and_stays_as_it_is(
    serial: Serial, entries: list[dict], tmp_path: Path
) -> None:
    out = serial.run(recipe(entries, tmp_path / "out"))
    expected = filter_whatif(out, ["n_words.min=150"])
    clean(Store(out))
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert filter_whatif(out, ["n_words.min=150"]) == expected
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    early = serial.run(recipe(entries, tmp_path / "early"), until="measure")
    told = filter_whatif(early, ["n_words.min=150"])
    assert (
        told["datasets"]["a"]["rules"]["then"]["documents"] == expected["datasets"]["a"]["rules"]["then"]["documents"]
    )


def test_other_rule_sets_leave_the_text_steps_of_the_run(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(entries, tmp_path / "out"))
    told = filter_whatif(out, filters=[])
    assert told["notes"][0] == (
        "a: measured with the text steps of the run; a recipe with these rules needs transform: [zyda] to come to the "
        "same."
    )
    assert told["notes"][0] in render(told)
    assert told["datasets"]["a"]["dropped"]["n_words.min"] == "min 5"


def test_questions_that_cannot_be_answered(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(entries, tmp_path / "out", tokenizer=None, filters=[WORDS]))
    for change, message in {
        "n_words": "--set n_words: write RULE=VALUE, like",
        "n_word.min=3": r"there is no such rule; did you mean n_words\.min\?",
        "n_words.min=many": r"--set n_words\.min=many: a bound is a number, or null",
        "n_words.min=true": "a bound is a number",
        "n_words.min=[": "not valid YAML",
        "n_words.max=null": r"there is no such rule; did you mean n_words\.min\?",
        "zyda.pii_count.max=3": r"zyda.pii_count was not measured; run the recipe with filters that name it",
        "filters=[zyda]": "a: not measured: zyda.fraction_non_alphanumeric",
        "datasets.a.sample=0.5": "this changes more than which documents stay",
        "dedup.threshold=0.5": "there is no such rule; there are: n_words.min",
        "datasets.a.filters=[zyd]": "there is no rule set 'zyd'; did you mean zyda",
        "licenses=x": "--set licenses=x: licenses",
        "datasets.d.filters=[]": "has no item d",
    }.items():
        with pytest.raises(RecipeError, match=message):
            filter_whatif(out, [change])
    with pytest.raises(RecipeError, match=r"--set license\.deny=MIT: this rule takes a list of labels"):
        filter_whatif(out, ["licenses={deny: [MIT]}", "license.deny=MIT"])
    own = [entry | {"filters": [WORDS]} for entry in entries]
    out = serial.run(recipe(own, tmp_path / "own", tokenizer=None))
    with pytest.raises(RecipeError, match=r"--filters: every dataset has filters of its own.*datasets\.a\.filters"):
        filter_whatif(out, filters=["zyda"])
    with pytest.raises(InputError, match=r"no run\.json"):
        filter_whatif(tmp_path)


def test_a_damaged_table_is_named(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(recipe(entries, tmp_path / "out", tokenizer=None))
    table = next(out.glob("signals/b/*.parquet"))
    data = table.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    table.write_bytes(data[:4] + bytes(len(data) - footer - 4) + data[-footer:])
    with pytest.raises(InputError, match=r"a table cannot be read: (.|\n)*`zydaflow verify` says what is wrong"):
        filter_whatif(out)
    table.write_bytes(data[:100])
    with pytest.raises(InputError, match="a table cannot be read"):
        filter_whatif(out)


def test_from_the_command_line(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from zydaflow.cli import main

    arguments = ["filter", "whatif", str(small_run), "--set", "n_words.min=1"]
    assert main([*arguments, "--set", "zyda.mean_word_length.max=null"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in reversed(lines) if line}
    assert rows["a"][:3] == ["27", "29", "+2"]
    assert rows["n_words.min"] == ["min", "1", "min", "20", "0", "0", "0", "0", "B"]
    assert rows["zyda.mean_word_length.max"] == ["dropped", "max", "12"]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == filter_whatif(small_run, ["n_words.min=1"])
    assert main([*arguments, "--filters", "zyda"]) == 2
