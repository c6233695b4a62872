"""Datasets that are added later: the result of one run over everything, without reading the old ones again."""

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from damage import flip
from datasets import load_from_disk
from inputs import datasets, recipe
from killing import Killed, die_at
from serial import Serial, results

from zydaflow import outlook, run, tokens
from zydaflow.commands.run import clean_up
from zydaflow.errors import InputError, RecipeError, RunError
from zydaflow.provenance.commits import Artefact, Store
from zydaflow.provenance.run_file import read_run
from zydaflow.provenance.tables import read_table
from zydaflow.provenance.verify import verify
from zydaflow.recipe import load_recipe
from zydaflow.stages.clean import clean
from zydaflow.stages.extend import extension, refuse_another
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.plan import is_finished

CHANGES = {
    "above": ("bc", "abc"),
    "below": ("ab", "abc"),
    "between": ("ac", "abc"),
    "dropped": ("abc", "bc"),
    "swapped": ("abc", "cba"),
    "replaced": ("ab", "cb"),
}
Place = tuple[str, str, int]


class Small:
    """The three small datasets in a folder of their own, and recipes over some of them."""

    def __init__(self, folder: Path, tokenizer: str) -> None:
        self.folder, self.tokenizer = folder, tokenizer
        self.entries = {entry["name"]: entry for entry in datasets(folder / "inputs")}

    def recipe(self, names: str, out: str = "out", **changes: Any) -> dict[str, Any]:
        """A recipe over the datasets of these letters, in that order."""
        output = {"path": str(self.folder / out), "shard_text": "12kB"}
        return recipe(
            [self.entries[name] for name in names],
            self.folder / out,
            **{"tokenizer": self.tokenizer, "output": output, "resources": {"shard_bytes": 9000}} | changes,
        )

    def remove_inputs(self, names: str) -> None:
        """Takes the raw text of datasets away."""
        for name in names:
            path = Path(self.entries[name]["path"])
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture
def small(tmp_path: Path, tokenizer: str) -> Small:
    return Small(tmp_path, tokenizer)


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, by their place in the output folder."""
    mapped, names = Store.map, []

    def spied(self: Store, artefact: Artefact) -> Any:
        names.append(artefact.path)
        return mapped(self, artefact)

    monkeypatch.setattr(Store, "map", spied)
    return names


def _written(out: Path) -> set[Place]:
    """The places of the documents in the corpus."""
    rows = [load_from_disk(str(path.parent)) for path in out.glob("corpus/*/state.json")]
    columns = ("source", "source_file", "source_position")
    return {place for table in rows for place in zip(*(table[name] for name in columns), strict=True)}


def _kept(out: Path) -> dict[str, set[Place]]:
    """The documents of every file of kept text."""
    manifest = Manifest.from_json(next(out.glob("work/manifest.*.json")).read_bytes())
    return {
        part.text.path: {
            (manifest.datasets[part.dataset], part.file, position)
            for position in read_table(Store(out), part.documents)["position"].to_pylist()
        }
        for part in manifest.parts
    }


@pytest.mark.parametrize("change", CHANGES)
def test_the_result_is_that_of_one_run_and_only_text_that_comes_back_is_read(
    serial: Serial, small: Small, maps: list[str], change: str
) -> None:
    before, after = CHANGES[change]
    fresh = serial.run(small.recipe(after, "fresh"))
    out = serial.run(small.recipe(before))
    written = _written(out)
    small.remove_inputs(before)
    maps.clear()
    assert serial.extend(small.recipe(after), set(before) - set(after)) == out
    read = {path for path in maps if path.startswith("work/kept/") and path.split("/")[2] in before}
    assert results(out) == results(fresh)
    assert verify(out) == []
    back = _written(out) - written
    assert read == {
        path for path, places in _kept(out).items() if path.split("/")[2] in before and not back.isdisjoint(places)
    }
    assert not list(out.glob("work/previous/*"))
    if change in ("dropped", "swapped"):
        assert read
    else:
        assert serial.done["measure"]


@pytest.mark.parametrize(
    "changes",
    [
        {"dedup": {"verify": "exact"}},
        {"dedup": {"exact": ["text"], "keep": ["length"]}},
        {"output": {"text": False}},
        {"tokenizer": None},
    ],
)
@pytest.mark.parametrize("change", ["between", "replaced"])
def test_in_other_kinds_of_run_too(
    serial: Serial, small: Small, change: str, changes: dict[str, dict[str, Any] | None]
) -> None:
    before, after = CHANGES[change]
    known = small.recipe(before)
    merged = {key: known[key] | value if value else value for key, value in changes.items()}
    output = {"output": {key: value for key, value in merged.pop("output", known["output"]).items() if key != "path"}}

    def of(names: str, out: str) -> dict[str, Any]:
        made = small.recipe(names, out, **merged)
        return made | {"output": made["output"] | output["output"]}

    fresh = results(serial.run(of(after, "fresh")))
    serial.run(of(before, "out"))
    small.remove_inputs(before)
    assert results(serial.extend(of(after, "out"), set(before) - set(after))) == fresh


def test_killed_at_any_step_and_resumed(small: Small, tmp_path: Path) -> None:
    old, new = CHANGES["replaced"]
    with pytest.MonkeyPatch.context() as patch:
        expected = results(Serial(patch).run(small.recipe(new, "fresh")))
        Serial(patch).run(small.recipe(old, "old"))
    small.remove_inputs(old)
    number, died = 1, True
    while died:
        out = tmp_path / "out"
        shutil.copytree(tmp_path / "old", out)
        with pytest.MonkeyPatch.context() as patch:
            serial = Serial(patch)
            die_at(patch, number, after=number % 2 == 0)
            try:
                serial.extend(small.recipe(new), "a")
                died = False
            except Killed:
                assert not read_run(out)["finished"]
        with pytest.MonkeyPatch.context() as patch:
            assert results(Serial(patch).extend(small.recipe(new), "a")) == expected, f"killed at step {number}"
        assert verify(out) == []
        shutil.rmtree(out)
        number += 3
    assert number > 50


def test_killed_while_a_shard_moves(monkeypatch: pytest.MonkeyPatch, small: Small, maps: list[str]) -> None:
    from zydaflow.stages import previous

    old, new = CHANGES["below"]
    expected = results(Serial(monkeypatch).run(small.recipe(new, "fresh")))
    Serial(monkeypatch).run(small.recipe(old))
    with pytest.MonkeyPatch.context() as patch:
        serial = Serial(patch)
        move = previous.move

        def dying(source: Path, target: Path) -> None:
            move(source, target)
            raise Killed

        patch.setattr(previous, "move", dying)
        with pytest.raises(Killed):
            serial.extend(small.recipe(new))
    maps.clear()
    assert results(Serial(monkeypatch).extend(small.recipe(new))) == expected
    assert not [path for path in maps if path.startswith(("work/kept/a", "work/kept/b"))]


def test_another_recipe_after_an_unfinished_one(serial: Serial, small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows come from the shards of both that were there before."""
    fresh = results(serial.run(small.recipe("cba", "fresh")))
    serial.run(small.recipe("abc"))
    with pytest.MonkeyPatch.context() as patch:
        half = Serial(patch)
        die_at(patch, 40, after=True)
        with pytest.raises(Killed):
            half.run(small.recipe("bca"))
    assert list((small.folder / "out").glob("commits/previous/*"))
    assert results(serial.run(small.recipe("cba"))) == fresh


def test_a_damaged_shard_of_before_is_made_from_its_text(serial: Serial, small: Small) -> None:
    from zydaflow.pipeline import _tell, stages_until
    from zydaflow.stages import account

    fresh = results(serial.run(small.recipe("abc", "fresh")))
    out = serial.run(small.recipe("bc"))
    for path in out.glob("corpus/b/data-*"):
        flip(path)
    planned, store = extension(load_recipe(small.recipe("abc"))), Store(out)
    account.begin(store, planned)
    _tell(stages_until(None), planned, store, None, 0.0)
    assert results(out) == fresh


def test_tokens_of_what_was_removed(serial: Serial, small: Small, maps: list[str]) -> None:
    """The same as those of the text, which is here known from the other order of ranks."""
    out = serial.run(small.recipe("abc"))
    counted = {record.facts["keep"]: record for record in Store(out).records("count")}
    assert sum(record.counts["documents"] for record in counted.values()) == 27
    manifest = Manifest.from_json(next(out.glob("work/manifest.*.json")).read_bytes())
    model = tokens.load(small.tokenizer)
    for part in manifest.parts:
        if part.keep in counted:
            table = read_table(Store(out), counted[part.keep].artefacts["tokens"])
            texts = read_table(Store(out), part.text)["text"].combine_chunks()
            expected = model.encode(texts).offsets
            rows = table["row"].to_pylist()
            assert rows == sorted(rows)
            assert table["tokens"].to_pylist() == [int(expected[row + 1] - expected[row]) for row in rows]


def test_nothing_is_counted_without_tokens_or_without_removals(serial: Serial, small: Small) -> None:
    assert not list(Store(serial.run(small.recipe("abc", "text", tokenizer=None))).records("count"))
    assert not list(Store(serial.run(small.recipe("abc", "all", dedup=None))).records("count"))


def test_signals_in_the_corpus_of_datasets_with_other_filters(serial: Serial, small: Small) -> None:
    small.entries["a"]["filters"] = [{"signal": "zyda.mean_word_length", "min": 1}]
    small.entries["b"]["filters"] = [{"signal": "n_words", "min": 5}]

    def of(names: str, out: str) -> dict[str, Any]:
        made = small.recipe(names, out, filters=[])
        return made | {"output": made["output"] | {"signals": True}}

    fresh = results(serial.run(of("ab", "fresh")))
    serial.run(of("b", "out"))
    small.remove_inputs("b")
    assert results(serial.extend(of("ab", "out"))) == fresh


def test_a_rule_that_keeps_the_same_documents_may_change(serial: Serial, small: Small) -> None:
    stricter = {"filters": ["zyda", {"signal": "n_words", "min": 4}]}
    fresh = results(serial.run(small.recipe("abc", "fresh", **stricter)))
    serial.run(small.recipe("ab"))
    small.remove_inputs("ab")
    assert results(serial.extend(small.recipe("abc", **stricter))) == fresh


def test_refused_where_text_would_have_to_be_read_again(serial: Serial, small: Small) -> None:
    out = serial.run(small.recipe("ab"))
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    with pytest.raises(RecipeError, match=r"(?s)dataset a: other than in .*: seed; .*shard_bytes\n.*dataset b: other"):
        serial.extend(small.recipe("abc", seed=2, resources={"shard_bytes": 3000}))
    with pytest.raises(RecipeError, match=r"dataset a: its filters keep other documents"):
        serial.extend(small.recipe("abc", filters=["zyda", {"signal": "n_words", "min": 90}]))
    small.entries["b"]["filters"] = []
    small.entries["b"]["transform"] = ["zyda"]
    with pytest.raises(RecipeError, match=r"dataset b: .*: the signals that filters"):
        serial.extend(small.recipe("abc"))
    del small.entries["b"]["filters"]
    small.entries["b"]["transform"] = []
    with pytest.raises(RecipeError, match=r"dataset b: .*: transform\n"):
        serial.extend(small.recipe("abc"))
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_refused_without_a_finished_run(serial: Serial, small: Small) -> None:
    with pytest.raises(InputError, match=r"no run\.json"):
        serial.extend(small.recipe("abc"))
    serial.run(small.recipe("ab"), until="measure")
    with pytest.raises(InputError, match="has not come to its end"):
        serial.extend(small.recipe("abc"))


def test_refused_where_it_is_not_known_what_was_read(serial: Serial, small: Small) -> None:
    shutil.rmtree(serial.run(small.recipe("ab")) / "commits" / "inputs")
    with pytest.raises(InputError, match="commits/inputs is missing"):
        serial.extend(small.recipe("abc"))


def test_no_dataset_goes_unless_told(serial: Serial, small: Small) -> None:
    serial.run(small.recipe("ab"))
    with pytest.raises(RecipeError, match=r"/out holds a, and the recipe does not; .* or let it go with --drop a"):
        serial.extend(small.recipe("bc"))
    with pytest.raises(RecipeError, match="--drop: the recipe names b; leave that out of one"):
        serial.extend(small.recipe("bc"), "ab")
    serial.extend(small.recipe("bc"), "a")


def test_what_is_there_already_needs_nothing(serial: Serial, small: Small) -> None:
    serial.run(small.recipe("ab"))
    out = serial.extend(small.recipe("bc"), "a")
    clean(Store(out))
    small.remove_inputs("bc")
    same = load_recipe(small.recipe("bc"))
    assert is_finished(extension(same))
    assert is_finished(extension(same, "a"))
    with pytest.raises(InputError, match=r"dataset b: .* lacks its list of files"):
        extension(load_recipe(small.recipe("cb")))


def test_a_folder_that_cannot_be_cleaned_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(store: Store) -> int:
        raise OSError(errno.EROFS, "Read-only file system", str(store.root))

    monkeypatch.setattr("zydaflow.stages.clean.clean", refuse)
    with pytest.raises(RunError, match="there: cannot be written to"):
        clean_up("there")


def test_a_finished_run_of_another_name_is_not_replaced(serial: Serial, small: Small) -> None:
    other = small.recipe("abc", name="other")
    serial.run(small.recipe("ab"), until="measure")
    refuse_another(load_recipe(other))
    out = serial.run(small.recipe("ab"))
    before = results(out)
    refuse_another(load_recipe(small.recipe("abc")))
    for refused in (run, outlook.render):
        with pytest.raises(RecipeError, match="holds the finished run small, and this is other; give another --out"):
            refused(load_recipe(other))
    assert results(out) == before
    serial.extend(other)
    assert read_run(out)["name"] == "other"


@pytest.mark.parametrize(
    ("pattern", "missing"),
    [
        ("work/**/*", "list of files, signals, kept text, signatures"),
        ("work/kept/a/*", "kept text"),
        ("work/signals/a/*", "signals"),
        ("commits/measure/*", "commit records"),
    ],
)
def test_refused_where_work_is_missing(serial: Serial, small: Small, pattern: str, missing: str) -> None:
    out = serial.run(small.recipe("ab"))
    for path in out.glob(pattern):
        if path.is_file():
            path.unlink()
    with pytest.raises(InputError, match=f"dataset a: .* lacks its {missing}, wholly or in part"):
        serial.extend(small.recipe("abc"))


def test_signatures_are_made_again_from_kept_text(serial: Serial, small: Small) -> None:
    fresh = results(serial.run(small.recipe("abc", "fresh")))
    out = serial.run(small.recipe("ab"))
    next(out.glob("work/signatures/a/*")).unlink()
    small.remove_inputs("ab")
    assert results(serial.extend(small.recipe("abc"))) == fresh


def test_a_cleaned_run_is_whole_and_can_be_changed(serial: Serial, small: Small) -> None:
    from zydaflow import open_run
    from zydaflow.stages.plan import plan

    out = serial.run(small.recipe("ab"))
    before = results(out)
    (out / "work" / "mine.txt").write_text("mine")
    size = sum(path.stat().st_size for path in out.glob("work/*/**/*") if path.is_file())
    assert clean(Store(out)) >= size > 0
    assert [path.name for path in out.glob("work/**/*")] == ["mine.txt"]
    (out / "work" / "mine.txt").unlink()
    assert verify(out) == []
    assert is_finished(plan(load_recipe(small.recipe("ab"))))
    assert len(open_run(out).removed()) == sum(1 for _ in open_run(out).removed().to_pylist()) > 0
    assert results(out) == before
    assert clean(Store(out)) == 0
    serial.run(small.recipe("abc"))
    assert results(out) == results(serial.run(small.recipe("abc", "fresh")))
    assert verify(out) == []
