"""Indexes: what a corpus holds, carried elsewhere, and kept out of new data."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_from_disk
from inputs import recipe
from serial import Serial, results

from zydaflow import outlook, whatif
from zydaflow.errors import InputError, RecipeError
from zydaflow.pipeline import _tell, stages_until
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import Store
from zydaflow.provenance.tables import read_table
from zydaflow.provenance.verify import verify
from zydaflow.recipe import load_recipe
from zydaflow.stages import against, index
from zydaflow.stages.clean import clean
from zydaflow.stages.plan import check, plan

SECTION = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4}
ONLY = {"passes": []}


class Small:
    """The small datasets, and runs over some of them."""

    def __init__(self, serial: Serial, entries: list[dict], folder: Path) -> None:
        self.serial, self.folder = serial, folder
        self.entries = {entry["name"]: entry for entry in entries}

    def recipe(self, names: str, out: str, first: tuple[dict, ...] = (), name: str = "small", **section: Any) -> dict:
        """A recipe over datasets of one letter each, after some others."""
        sets = [*first, *(self.entries[letter] for letter in names)]
        changes = {"name": name, "tokenizer": None, "dedup": SECTION | section}
        return recipe(sets, self.folder / out, **changes)

    def run(self, names: str, out: str, **changes: Any) -> Path:
        return self.serial.run(self.recipe(names, out, **changes))

    def index(self, names: str, name: str = "small", **section: Any) -> str:
        """An index of a run over some datasets."""
        out = self.run(names, f"out-{names}-{name}", name=name, **section)
        index.make(out, self.folder / f"index-{names}-{name}")
        return str(self.folder / f"index-{names}-{name}")


@pytest.fixture
def small(serial: Serial, entries: list[dict], tmp_path: Path) -> Small:
    return Small(serial, entries, tmp_path)


def _removed(out: Path) -> list[dict[str, Any]]:
    return pq.read_table(out / "evidence" / "removed.parquet").to_pylist()


def _survivors(out: Path, names: str) -> set[tuple[str, str, int]]:
    tables = [load_from_disk(str(out / "corpus" / name)) for name in names]
    columns = ("source", "source_file", "source_position")
    return {place for table in tables for place in zip(*(table[name] for name in columns), strict=True)}


def _corpus(out: Path, names: str, **changes: Any) -> tuple[dict, ...]:
    """Entries of what a run kept, whose texts are the same."""
    as_they_are = {"transform": [], "filters": [], "frozen": True} | changes
    return tuple({"name": f"{name}-kept", "path": str(out / "corpus" / name)} | as_they_are for name in names)


def test_an_index_holds_what_stays(small: Small) -> None:
    folder = small.index("ab", exact=["text", "url"])
    out, record = small.folder / "out-ab-small", against.load(folder)
    assert sorted(p.relative_to(folder).as_posix() for p in Path(folder).rglob("*.*")) == [
        "a/000000.arrow",
        "b/000000.arrow",
        "index.json",
    ]
    assert record.counts == {"documents": sum(len(load_from_disk(str(out / "corpus" / name))) for name in "ab")}
    for name in "ab":
        table = read_table(Store(folder), record.artefacts[f"{name}/000000.arrow"])
        assert table.schema.equals(against.schema(128, ("text", "url")))
        corpus = load_from_disk(str(out / "corpus" / name))
        for column, other in {"file": "source_file", "position": "source_position", "id": "source_id"}.items():
            assert table[column].to_pylist() == list(corpus[other])
        assert [value.hex() for value in table["text_hash"].to_pylist()] == list(corpus["text_hash"])
        no_url = np.array([value == bytes(16) for value in table["exact.url"].to_pylist()])
        assert no_url.all() if name == "a" else not no_url.any()


def test_files_of_an_index_have_so_many_documents(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = small.index("ac")
    monkeypatch.setattr(index, "DOCUMENTS", 16)
    record = index.make(small.folder / "out-ac-small", small.folder / "cut")
    assert all(file.rows <= 16 for file in record.artefacts.values())
    assert len(record.artefacts) > 4
    for name in "ac":
        tables = [
            pa.concat_tables(
                read_table(Store(folder), made.artefacts[path]) for path in sorted(made.artefacts) if path[0] == name
            )
            for folder, made in ((whole, against.load(whole)), (small.folder / "cut", record))
        ]
        assert tables[0].equals(tables[1])
    runs = [
        small.run("b", f"by-{k}", against=[folder], **ONLY)
        for k, folder in enumerate((whole, str(small.folder / "cut")))
    ]
    assert results(runs[0])["evidence/removed.parquet"] == results(runs[1])["evidence/removed.parquet"]


def test_only_what_is_in_the_index_goes(small: Small) -> None:
    folder = small.index("a")
    out = small.run("bc", "new", against=[folder], **ONLY)
    removed = _removed(out)
    assert {(row["dataset"], row["kept_dataset"], row["outcome"]) for row in removed} == {
        ("b", "small:a", "removed_across"),
        ("c", "small:a", "removed_across"),
    }
    kept = _corpus(small.folder / "out-a-small", "a")
    for name in "bc":  # one by one, so that the new ones are not held against each other
        twin = small.run(name, f"twin-{name}", first=kept, passes=["across"])
        assert _survivors(twin, name) == _survivors(out, name)
    assert verify(out) == []
    clusters = pq.read_table(out / "evidence" / "clusters.parquet")["members"].to_pylist()
    held = [{member["dataset"] for member in of} for of in clusters]
    assert all("small:a" in names and names & {"b", "c"} for names in held)
    told = waterfall.load(out)
    assert told["losses"]["b"] == {"small:a": told["datasets"]["b"]["outcomes"]["removed_across"]}
    assert "small:a" in (out / "report" / "index.html").read_text()
    assert "small:a" in (out / "corpus" / "README.md").read_text()


SAME = ("dataset", "file", "position", "outcome", "jaccard_estimate", "bands_shared", "kept_text_hash")


@pytest.mark.parametrize(
    "section",
    [
        {},
        {"threshold": 0.3, "keep": ["n_words"]},
        {"exact": ["text"]},
        {"passes": ["across"]},
        {"passes": ["across"], "across": {"remove_from": ["a", "c"]}},
    ],
)
def test_beside_passes_an_index_is_a_frozen_dataset(small: Small, section: dict[str, Any]) -> None:
    folder = small.index("b", exact=["text"])
    out = small.run("ac", "new", against=[folder], **section)
    twin = small.run("ac", "twin", first=_corpus(small.folder / "out-b-small", "b"), **section)
    assert _survivors(out, "ac") == _survivors(twin, "ac")
    rows = [[tuple(row[key] for key in SAME) for row in _removed(run)] for run in (out, twin)]
    assert rows[0] == rows[1]
    assert "small:b" in {row["kept_dataset"] for row in _removed(out)}


def test_what_takes_no_part(small: Small) -> None:
    """Datasets without signatures are in no index, and lose nothing to one."""
    apart = small.entries["b"] | {"dedup": False}
    out = small.run("a", "out", first=(apart,))
    record = index.make(out, small.folder / "index")
    assert record.facts["datasets"] == ["a"]
    new = small.run("c", "new", first=(apart,), against=[str(small.folder / "index")])
    assert {row["dataset"] for row in _removed(new)} == {"c"}


def test_within_and_against(small: Small) -> None:
    """A dataset that loses to itself and to an index, and not to others."""
    folder = small.index("a")
    out = small.run("bc", "new", against=[folder], passes=["within"])
    kept = _corpus(small.folder / "out-a-small", "a")
    for name in "bc":
        twin = small.run(name, f"twin-{name}", first=kept)
        assert _survivors(twin, name) == _survivors(out, name)
    assert {row["kept_dataset"] for row in _removed(out)} <= {"small:a", "b", "c"}
    assert all(row["kept_dataset"] in ("small:a", row["dataset"]) for row in _removed(out))


def test_who_is_safe_from_an_index(small: Small) -> None:
    folder = small.index("a")
    frozen = small.entries["b"] | {"frozen": True}
    out = small.run("c", "frozen", first=(frozen,), against=[folder], **ONLY)
    assert {row["dataset"] for row in _removed(out)} == {"c"}
    section = {"passes": ["across"], "across": {"remove_from": ["c"]}}
    out = small.run("bc", "protected", against=[folder], **section)
    lost = {(row["dataset"], row["kept_dataset"]) for row in _removed(out)}
    assert ("b", "small:a") in lost
    assert ("b", "c") not in lost
    assert ("c", "b") in lost


def test_two_indexes_and_an_empty_one(small: Small) -> None:
    one, other = small.index("a", "one"), small.index("b", "other")
    rules = {"filters": [{"signal": "n_words", "min": 10**6}]}
    nothing = small.serial.run(small.recipe("a", "out-nothing", name="nothing") | rules)
    index.make(nothing, small.folder / "nothing")
    empty = str(small.folder / "nothing")
    assert against.load(empty).counts == {"documents": 0}
    alone = small.run("c", "alone", against=[one], **ONLY)
    beside = small.run("c", "beside", against=[empty, one], **ONLY)
    assert results(beside)["evidence/removed.parquet"] == results(alone)["evidence/removed.parquet"]
    both = small.run("c", "both", against=[one, other], **ONLY)
    kept = (*_corpus(small.folder / "out-a-one", "a"), *_corpus(small.folder / "out-b-other", "b"))
    twin = small.run("c", "twin", first=kept, passes=["across"])
    assert _survivors(both, "c") == _survivors(twin, "c")
    assert {row["kept_dataset"] for row in _removed(both)} == {"one:a", "other:b"}
    none = small.run("c", "none", against=[empty], **ONLY)
    assert _removed(none) == []


def test_what_if_an_index_is_among_what_was_asked_of(small: Small) -> None:
    folder, file = small.index("a"), small.folder / "then.parquet"
    out = small.run("bc", "new", against=[folder])
    whatif(out, ["c", "b"], 0.8, output=file)
    real = small.run("cb", "real", against=[folder], threshold=0.8)
    rows = pq.read_table(file).to_pylist()
    assert rows == _removed(real)
    assert {"small:a", "b", "c"} >= {row["kept_dataset"] for row in rows} > {"small:a"}
    shutil.move(folder, small.folder / "gone")
    with pytest.raises(InputError, match=r"index\.json is not there"):
        whatif(out, ["c", "b"])


def test_the_plan_tells_of_indexes(small: Small) -> None:
    made = small.recipe("bc", "new", against=[small.index("a")], **ONLY)
    assert "candidate pairs, against indexes" in outlook.render(load_recipe(made))


def test_with_tokens(small: Small) -> None:
    """Of a document of an index nobody counted the tokens."""
    folder = small.index("a")
    made = small.recipe("bc", "new", against=[folder]) | {"tokenizer": {"train": {"vocab_size": 300}}}
    out = small.serial.run(made)
    rows = _removed(out)
    assert all(row["tokens"] > 0 for row in rows)
    assert all((row["kept_tokens"] is None) == (row["kept_dataset"] == "small:a") for row in rows)
    assert len({row["kept_tokens"] is None for row in rows}) == 2
    assert verify(out) == []


def test_carried_elsewhere(small: Small) -> None:
    folder = small.index("a")
    before = small.run("b", "new", against=[folder], **ONLY)
    evidence = results(before)["evidence/removed.parquet"]
    moved = str(small.folder / "elsewhere" / "index")
    shutil.move(folder, moved)
    with pytest.raises(InputError, match=r"index\.json is not there"):
        small.run("b", "new", against=[folder], **ONLY)
    assert small.run("b", "new", against=[moved], **ONLY) == before
    assert "match" not in small.serial.done
    assert "decide" not in small.serial.done
    assert results(before)["evidence/removed.parquet"] == evidence


def test_another_index_in_the_same_place(small: Small) -> None:
    one, other = small.index("a"), small.index("c")
    out = small.run("b", "new", against=[one], **ONLY)
    shutil.rmtree(one)
    shutil.move(other, one)
    again = small.run("b", "new", against=[one], **ONLY)
    assert {row["kept_dataset"] for row in _removed(again)} == {"small:c"}
    assert verify(out) == []


def test_damage(small: Small) -> None:
    folder = Path(small.index("a"))
    made = small.recipe("b", "new", against=[str(folder)], **ONLY)
    file, record = folder / "a" / "000000.arrow", folder / "index.json"
    content = file.read_bytes()
    file.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    with pytest.raises(InputError, match=r"000000\.arrow: differs from its checksum: this index is damaged"):
        _tell(stages_until(None), plan(load_recipe(made)), Store(small.folder / "new"), None, 0.0)
    file.write_bytes(content[:-1])
    with pytest.raises(InputError, match=r"lacks a/000000\.arrow, wholly or in part; copy or make the index again"):
        plan(load_recipe(made))
    file.write_bytes(content)
    record.write_bytes(record.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"index\.json cannot be read"):
        plan(load_recipe(made))


def test_documents_that_were_compared_in_another_way(small: Small) -> None:
    folder = small.index("a")
    for change, message in {
        "shingle": r"shingle: 3 word there, 25 character here",
        "permutations": r"permutations: 128 there, 256 here",
        "exact": r"exact: text only here",
    }.items():
        values = {"shingle": {"unit": "character", "size": 25}, "permutations": 256, "exact": ["text"]}
        with pytest.raises(RecipeError, match=message):
            check(load_recipe(small.recipe("b", "new", against=[folder], **{change: values[change]})))
    with pytest.raises(RecipeError, match=r"seed: 1 there, 2 here"):
        check(load_recipe(small.recipe("b", "new", against=[folder]) | {"seed": 2}))
    with pytest.raises(RecipeError, match="an index is named twice"):
        check(load_recipe(small.recipe("b", "new", against=[folder, folder])))
    with pytest.raises(RecipeError, match="several indexes are of runs with the name small"):
        check(load_recipe(small.recipe("b", "new", against=[folder, small.index("c")])))


def test_what_no_index_is_made_of(small: Small) -> None:
    out = small.run("ab", "out", exact=["url"])
    (small.folder / "taken").mkdir()
    (small.folder / "taken" / "letter.txt").touch()
    for taken in ("taken", "taken/letter.txt"):
        with pytest.raises(RecipeError, match="is no empty folder"):
            index.make(out, small.folder / taken)
    (small.folder / "empty").mkdir()
    index.make(out, small.folder / "empty")
    path = next(out.glob("work/signatures/b/*"))
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))
    with pytest.raises(InputError, match="differs from its checksum; `zydaflow verify"):
        index.make(out, small.folder / "new")
    path.write_bytes(content)
    next(out.glob("work/keys/*")).unlink()
    with pytest.raises(InputError, match="lacks its keys"):
        index.make(out, small.folder / "new")
    clean(Store(out))
    with pytest.raises(InputError, match="lacks its list of documents, documents' places, signatures"):
        index.make(out, small.folder / "new")
    assert not list(small.folder.glob(".zydaflow-tmp-*"))
    assert not (small.folder / "new").exists()


def test_its_folder_is_not_that_of_the_recipe(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    from zydaflow import cli
    from zydaflow.commands import dedup

    paths = []
    monkeypatch.setattr(dedup, "perform", lambda planned, options: paths.append(planned.recipe.output.path) or 0)
    (small.folder / "recipe.yaml").write_text(yaml.safe_dump(small.recipe("b", "new", passes=["joint"], verify="none")))
    command = ["dedup", "against", small.index("a"), str(small.folder / "recipe.yaml")]
    assert cli.main(command) == cli.main([*command, "--out", str(small.folder / "other")]) == 0
    assert paths == [str(small.folder / "new-against"), str(small.folder / "other")]


def test_from_the_command_line(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On Ray: of what a corpus holds already, nothing is new."""
    from zydaflow.cli import main

    assert main(["dedup", "index", str(small_run), "-o", str(tmp_path / "index")]) == 0
    assert " documents of " in capsys.readouterr().out
    again = ["dedup", "against", str(tmp_path / "index"), str(small_run / "recipe.yaml"), "--out"]
    assert main([*again, str(tmp_path / "new"), "--workers", "2"]) == 0
    for name in waterfall.load(small_run)["datasets"]:
        assert len(load_from_disk(str(tmp_path / "new" / "corpus" / name))) == 0
    assert main([*again, str(tmp_path / "other"), "--set", "dedup.permutations=64"]) == 2
    assert "permutations: 128 there, 64 here" in capsys.readouterr().err
    (tmp_path / "index" / "index.json").unlink()
    assert main([*again, str(tmp_path / "new"), "--workers", "2"]) == 3
