"""Which copy stays: the recipe's keys, frozen datasets, directions, and what makes documents equal."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from inputs import edited, prose
from serial import Serial

from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load
from zydaflow.recipe import load_recipe
from zydaflow.stages.plan import check, plan

RNG = random.Random(3)
ONE, TWO, THREE = (prose(RNG, 90) for _ in range(3))
NEAR = [edited(RNG, ONE, 2) for _ in range(4)]


def write(folder: Path, name: str, rows: list[dict[str, Any]], **keys: Any) -> dict[str, Any]:
    """A dataset of these records, with its entry in the recipe."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"name": name, "path": str(path), "id": "id"} | keys


def recipe(entries: list[dict], out: Path, **dedup: Any) -> dict[str, Any]:
    spec = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4} | dedup
    return {"name": "choice", "datasets": entries, "dedup": spec, "output": {"path": str(out)}}


def removed(out: Path) -> dict[str, tuple[str, str]]:
    """id → (id of the kept one, outcome), and the sums hold."""
    assert verify(out) == []
    rows = pq.read_table(out / "evidence" / "removed.parquet").to_pylist()
    outcomes = Counter(row["outcome"] for row in rows)
    told = load(out)["total"]["outcomes"]
    assert all(told[name]["documents"] == outcomes[name] for name in told if name.startswith("removed"))
    return {row["id"]: (row["kept_id"], row["outcome"].removeprefix("removed_")) for row in rows}


@pytest.mark.parametrize(
    ("keep", "stays"),
    [
        (["score"], "b"),
        (["score ascending"], "a"),
        (["label"], "c"),
        (["label ascending", "score"], "b"),
        (["date"], "d"),
        (["date ascending"], "b"),
        (["length"], "c"),
        (["length ascending"], "b"),
        (["n_words"], "c"),
        (["n_words ascending"], "b"),
    ],
)
def test_the_keys_of_the_recipe_choose(serial: Serial, tmp_path: Path, out: Path, keep: list[str], stays: str) -> None:
    rows = [
        {"id": "a", "text": NEAR[0], "score": 1, "label": "x", "when": "2019-05-01"},
        {"id": "b", "text": NEAR[1][: NEAR[1].rindex(" ")], "score": 9.5, "label": "x", "when": "2018"},
        {"id": "c", "text": NEAR[2] + " more", "score": 3, "label": "y", "when": None},
        {"id": "d", "text": NEAR[3], "score": None, "label": None, "when": "2019-05-01T00:00:01Z"},
    ]
    entry = write(tmp_path, "all", rows, metadata=["score", "label"], date="when")
    serial.run(recipe([entry], out, keep=keep))
    assert removed(out) == {name: (stays, "within") for name in "abcd" if name != stays}


@pytest.mark.parametrize(
    ("values", "stays"),
    [
        ([2**53, 2**53 + 1, 2**53 - 1], "b"),
        (["9.5", "10.25", "-20"], "b"),
        (["1 day, 0:00:00", "23:59:59", "2 days, 0:00:00"], "c"),
    ],
)
def test_numbers_beyond_doubles_and_in_texts_count_as_numbers(
    serial: Serial, tmp_path: Path, out: Path, values: list[Any], stays: str
) -> None:
    rows = [{"id": c, "text": t, "n": n} for c, t, n in zip("abc", NEAR, values, strict=False)]
    serial.run(recipe([write(tmp_path, "all", rows, metadata=["n"])], out, keep=["n"]))
    assert removed(out) == {name: (stays, "within") for name in "abc" if name != stays}


def test_dates_that_cannot_be_read_are_told(
    serial: Serial, tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dates = ("2020-01-02", "Fri, 03 Jan 2020 00:00:00 +0000", 1577836800000, "01/31/2024")
    rows = [{"id": c, "text": t, "when": when} for c, t, when in zip("abcd", NEAR, dates, strict=True)]
    entry = write(tmp_path, "all", rows, date="when")
    serial.run(recipe([entry], out))
    assert "dates" not in capsys.readouterr().err
    told = "dataset all: dates of 1 of 4 kept documents cannot be read, like '01/31/2024'; keep: date takes them for"
    for _ in range(2):  # also by a run that reuses the keys
        serial.run(recipe([entry], out, keep=["date"]))
        assert told in capsys.readouterr().err
    assert removed(out) == dict.fromkeys("acd", ("b", "within"))


def test_rank_comes_before_every_key(serial: Serial, tmp_path: Path, out: Path) -> None:
    first = write(tmp_path, "first", [{"id": "a", "text": NEAR[0], "score": 1}], metadata=["score"])
    second = write(tmp_path, "second", [{"id": "b", "text": NEAR[1], "score": 9}], metadata=["score"])
    serial.run(recipe([first, second], out, keep=["score"]))
    assert removed(out) == {"b": ("a", "across")}


def test_a_column_that_one_dataset_lacks_is_no_value(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [{"id": name, "text": text, "score": 1} for name, text in zip("ab", NEAR, strict=False)]
    one = write(tmp_path, "one", rows)
    two = write(tmp_path, "two", [{"id": "c", "text": TWO, "score": 1}], metadata=["score"])
    serial.run(recipe([one, two], out, keep=["score"]))
    assert len(removed(out)) == 1


def test_what_is_frozen_loses_nothing_and_others_lose_to_it(serial: Serial, tmp_path: Path, out: Path) -> None:
    best = write(tmp_path, "best", [{"id": "a", "text": NEAR[0]}, {"id": "b", "text": TWO}])
    fixed = write(tmp_path, "fixed", [{"id": c, "text": t} for c, t in zip("cd", NEAR[1:], strict=False)], frozen=True)
    last = write(tmp_path, "last", [{"id": "e", "text": NEAR[3]}, {"id": "f", "text": TWO}])
    serial.run(recipe([best, fixed, last], out))
    gone = removed(out)
    assert gone.pop("f") == ("b", "across")
    assert set(gone) == {"a", "e"}
    assert {kept for kept, _ in gone.values()} <= {"c", "d"}
    assert {how for _, how in gone.values()} == {"across"}


def test_a_dataset_apart_is_neither_compared_nor_sketched(serial: Serial, tmp_path: Path, out: Path) -> None:
    best = write(tmp_path, "best", [{"id": "a", "text": ONE, "url": "u"}], metadata=["url"])
    apart = write(tmp_path, "apart", [{"id": c, "text": ONE, "url": "u"} for c in "bc"], metadata=["url"], dedup=False)
    last = write(tmp_path, "last", [{"id": "d", "text": ONE, "url": "v"}], metadata=["url"])
    serial.run(recipe([apart, best, last], out, exact=["url"], keep=["length"]))
    assert removed(out) == {"d": ("a", "across")}
    assert not list((out / "work" / "signatures").glob("apart/*"))
    assert load(out)["datasets"]["apart"]["outcomes"]["written"]["documents"] == 2


def test_removed_from_one_alone_the_other_is_untouched(serial: Serial, tmp_path: Path, out: Path) -> None:
    """A and B share documents, B has duplicates of its own: only A loses, though it has the better rank."""
    a = write(tmp_path, "a", [{"id": "a1", "text": ONE}, {"id": "a2", "text": TWO}, {"id": "a3", "text": TWO}])
    b = write(
        tmp_path, "b", [{"id": "b1", "text": NEAR[0]}, {"id": "b2", "text": NEAR[0]}, {"id": "b3", "text": THREE}]
    )
    serial.run(recipe([a, b], out, passes=["across"], across={"remove_from": ["a"]}))
    ((gone, (kept, how)),) = removed(out).items()
    assert (gone, how) == ("a1", "across")
    assert kept in ("b1", "b2")
    row = pq.read_table(out / "evidence" / "removed.parquet").to_pylist()[0]
    assert (row["dataset"], row["kept_dataset"]) == ("a", "b")
    assert row["jaccard_estimate"] >= 0.5
    assert load(out)["datasets"]["b"]["outcomes"]["written"]["documents"] == 3


def test_equal_texts_and_equal_urls_have_an_outcome_of_their_own(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [
        {"id": "a", "text": ONE, "url": "HTTP://Example.com:80/x"},
        {"id": "b", "text": ONE.upper() + "!", "url": "http://example.com/other"},  # equal once it is normalised
        {"id": "c", "text": TWO, "url": "http://example.com/x#part"},  # the same page, another text
        {"id": "d", "text": NEAR[0], "url": None},
        {"id": "e", "text": "?!", "url": None},
        {"id": "f", "text": "...", "url": None},  # without words: equal to nothing
        {"id": "g", "text": "?", "url": "http://example.com/x"},
    ]
    entry = write(tmp_path, "web", rows, metadata=["url", "order"])
    for number, row in enumerate(rows):
        row["order"] = number
    entry = write(tmp_path, "web", rows, metadata=["url", "order"])
    serial.run(recipe([entry], out, exact=["text", "url"], keep=["order ascending"]))
    assert removed(out) == {"b": ("a", "exact"), "c": ("a", "exact"), "g": ("a", "exact"), "d": ("a", "within")}
    counts = load(out)["datasets"]["web"]["outcomes"]
    assert {k: v["documents"] for k, v in counts.items() if v["documents"]} == {
        "removed_exact": 3,
        "removed_within": 1,
        "written": 3,
    }


def test_an_equal_one_that_goes_itself_takes_nobody_with_it(serial: Serial, tmp_path: Path, out: Path) -> None:
    """B goes for A by its text, so C, of B's page, stays: no removal may name a document that is gone."""
    a = write(tmp_path, "a", [{"id": "a", "text": ONE, "url": "u"}], metadata=["url"])
    rest = [{"id": "b", "text": NEAR[0], "url": "v", "n": 1}, {"id": "c", "text": TWO, "url": "v", "n": 2}]
    b = write(tmp_path, "b", rest, metadata=["url", "n"])
    serial.run(recipe([a, b], out, exact=["url"], keep=["n ascending"]))
    assert removed(out) == {"b": ("a", "across")}


def test_equal_ids_across_datasets_whatever_the_passes(serial: Serial, tmp_path: Path, out: Path) -> None:
    a = write(tmp_path, "a", [{"id": "1", "text": ONE}, {"id": "2", "text": TWO}])
    b = write(tmp_path, "b", [{"id": "1", "text": THREE}])
    serial.run(recipe([a, b], out, exact=["id"], passes=["within"]))
    assert removed(out) == {"1": ("1", "exact")}


def test_equal_counters_of_unlike_texts_are_told(
    serial: Serial, tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path, "a", [{"id": "1", "text": ONE}, {"id": "2", "text": TWO}])
    b = write(tmp_path, "b", [{"id": "1", "text": THREE}, {"id": "3", "text": NEAR[0]}])
    serial.run(recipe([a, b], out, exact=["text", "id"]))
    told = capsys.readouterr().err
    assert "dedup.exact: 1 of 1 documents that went for one with an equal id are less than 0.1 similar to it" in told
    assert "equal text" not in told
    c = write(tmp_path, "c", [{"id": "1", "text": NEAR[1]}, {"id": "2", "text": THREE}])
    serial.run(recipe([a, c], out, exact=["text", "id"]))
    assert "dedup.exact" not in capsys.readouterr().err  # one of two


def test_texts_without_words_are_not_similar(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [{"id": c, "text": text, "url": "u"} for c, text in zip("abc", ("?!", "...", ONE), strict=True)]
    entry = write(tmp_path, "web", rows, metadata=["url"])
    for how in ("signature", "exact"):
        serial.run(recipe([entry], out, exact=["url"], verify=how))
        found = pq.read_table(out / "evidence" / "removed.parquet").to_pylist()
        assert [(row["jaccard_estimate"], row["bands_shared"]) for row in found] == [(0.0, 0)] * 2


def test_keys_are_made_again_only_where_they_change(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [{"id": c, "text": t, "score": n} for n, (c, t) in enumerate(zip("abcd", NEAR, strict=True))]
    entry = write(tmp_path, "all", rows, metadata=["score"])
    serial.run(recipe([entry], out, keep=["score"]))
    assert set(serial.done) >= {"keys", "bands", "match", "decide"}
    serial.run(recipe([entry], out, keep=["score ascending"]))
    assert not {"measure", "keys", "bands", "match", "cluster"} & set(serial.done)
    assert removed(out) == dict.fromkeys("bcd", ("a", "within"))


@pytest.mark.parametrize(
    ("dedup", "message"),
    [
        ({"keep": ["qualty"]}, "dedup.keep: 'qualty' is no signal, and no dataset has it in its metadata"),
        ({"keep": ["n_wrds"]}, "did you mean n_words"),
        ({"keep": ["nonsense"]}, "there are: length, date, and the signals that `zydaflow signals` lists$"),
        ({"keep": ["date"]}, "dedup.keep: names date, and no dataset has one; add date: COLUMN"),
        ({"keep": ["length", "length ascending"]}, "names a key twice"),
        ({"keep": ["ascending"]}, "'ascending' has no name"),
        ({"exact": ["link"]}, "dedup.exact: no dataset carries the column 'link'; name it in id: or metadata: of"),
        (
            {"across": {"remove_from": ["c"]}},
            "dedup.across.remove_from: there is no dataset 'c'; the datasets are a, b",
        ),
        ({"across": {"remove_from": ["a"]}, "passes": ["within"]}, "is about the pass across; add that to passes"),
        ({"exact": ["text"], "passes": ["joint"], "verify": "none"}, "the joint pass has no exact"),
        ({"passes": []}, "only with against or exact"),
        ({"exact": ["id", "id"]}, "dedup.exact: names a key twice"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, out: Path, dedup: dict, message: str) -> None:
    entries = [write(tmp_path, name, [{"id": "1", "text": ONE}]) for name in "ab"]
    with pytest.raises(RecipeError, match=message.replace("[", r"\[")):
        check(load_recipe(recipe(entries, out, **dedup)))


@pytest.mark.parametrize(
    ("keys", "why"), [({"frozen": True}, "frozen"), ({"dedup": False}, r"not compared \(dedup: false\)")]
)
def test_what_loses_nothing_cannot_be_removed_from(tmp_path: Path, out: Path, keys: dict, why: str) -> None:
    entries = [write(tmp_path, "a", [{"id": "1", "text": ONE}], **keys), write(tmp_path, "b", [{"text": TWO}])]
    with pytest.raises(RecipeError, match=f"dedup.across.remove_from: a is {why} and loses no document"):
        load_recipe(recipe(entries, out, across={"remove_from": ["a"]}))


def test_a_date_or_key_column_that_is_not_there_is_found_while_planning(tmp_path: Path, out: Path) -> None:
    entry = write(tmp_path, "a", [{"id": "1", "text": ONE}], date="when")
    with pytest.raises(InputError, match="when"):
        plan(load_recipe(recipe([entry], out, keep=["date"])))


def test_more_documents_than_numbers_are_told(
    serial: Serial, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = write(tmp_path, "a", [{"id": str(k), "text": text} for k, text in enumerate((ONE, TWO, THREE))])
    monkeypatch.setattr("zydaflow.stages.manifest.MOST", 2)
    with pytest.raises(InputError, match=r"3 documents are left to compare, and one run compares up to 2: .*against"):
        serial.run(recipe([entry], out))
    serial.run(recipe([entry], out) | {"dedup": None})


def test_exact_verification_after_a_first_part_without_documents(serial: Serial, tmp_path: Path, out: Path) -> None:
    empty = write(tmp_path, "empty", [{"id": "x", "text": "short"}])
    rest = write(tmp_path, "rest", [{"id": "a", "text": ONE}, {"id": "b", "text": ONE}])
    small = recipe([empty, rest], out, verify="exact") | {"filters": [{"signal": "n_words", "min": 3}]}
    serial.run(small)
    assert len(removed(out)) == 1


def test_equal_values_of_two_columns_link_nobody(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [{"id": str(k), "n": str(k + 1), "text": prose(random.Random(k), 60)} for k in range(9)]
    serial.run(recipe([write(tmp_path, "a", rows, metadata=["n"])], out, exact=["id", "n"]))
    assert removed(out) == {}
    assert len(pq.read_table(out / "evidence" / "clusters.parquet")) == 0


def test_numbers_beyond_all_doubles_end_no_run(serial: Serial, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "a.jsonl"
    values = ("1e999", "1" * 401, "3")
    path.write_text("".join(f'{{"id": "{k}", "text": "{NEAR[k]}", "m": {m}}}\n' for k, m in enumerate(values)))
    entry = {"name": "a", "path": str(path), "id": "id", "metadata": ["m"]}
    serial.run(recipe([entry], out, keep=["m ascending"], exact=["m"]))
    assert {kept for kept, _ in removed(out).values()} == {"2"}


def test_texts_without_words_have_no_similarity(serial: Serial, tmp_path: Path, out: Path) -> None:
    rows = [{"id": "a", "text": "?!", "url": "u"}, {"id": "b", "text": "...", "url": "u"}]
    serial.run(recipe([write(tmp_path, "a", rows, metadata=["url"])], out, exact=["url"], verify="exact"))
    assert pq.read_table(out / "evidence" / "removed.parquet")["jaccard"].to_pylist() == [None]
