"""What if: the answer from signatures is that of a real run of the changed recipe, and the run stays as it is."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs import recipe
from serial import Serial

from zydaflow import dedup, whatif
from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import Store
from zydaflow.provenance.outcomes import DUPLICATES
from zydaflow.provenance.whatif_tables import render
from zydaflow.recipe import load_recipe
from zydaflow.stages import account
from zydaflow.stages.clean import clean
from zydaflow.stages.plan import plan

UNPINNED = {"shingle": {"size": 3}, "threshold": 0.5}
PINNED = UNPINNED | {"bands": 32, "rows": 4}


def _recipe(entries: list[dict], out: Path, **section: Any) -> dict[str, Any]:
    """The recipe of the small datasets, without tokens."""
    return recipe(entries, out, tokenizer=None, dedup=section)


def _state(folder: Path) -> dict[str, tuple[str, int]]:
    """Content and time of every file, and the time of every folder, which changes with any file that was ever in it."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "", path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def _untokenized(path: Path) -> pa.Table:
    return pq.read_table(path).drop_columns(["tokens", "kept_tokens"])


@pytest.mark.parametrize(
    ("section", "rank", "changes"),
    [
        (PINNED, "cba", {}),
        (PINNED, "bac", {"threshold": 0.9}),
        (PINNED, "abc", {"threshold": 0.1}),
        (UNPINNED, "acb", {"threshold": 0.8}),
        (UNPINNED, "cab", {"threshold": 0.2, "keep": ["n_words ascending"]}),
        (UNPINNED | {"exact": ["text"], "keep": ["length"]}, "bca", {"keep": ["url", "length ascending"]}),
        (PINNED | {"verify": "exact"}, "abc", {"threshold": 0.6}),
        (PINNED | {"across": {"remove_from": ["a", "c"]}, "passes": ["across"]}, "cab", {}),
    ],
)
def test_the_answer_is_that_of_a_real_run(
    serial: Serial, entries: list[dict], tmp_path: Path, section: dict, rank: str, changes: dict
) -> None:
    out, file = serial.run(_recipe(entries, tmp_path / "out", **section)), tmp_path / "then.parquet"
    before = _state(out)
    answer = whatif(out, list(rank), output=file, **changes)
    assert _state(out) == before
    by_name = {entry["name"]: entry for entry in entries}
    changed = section | changes | {"verify": "signature"}
    real = serial.run(_recipe([by_name[name] for name in rank], tmp_path / "real", **changed))
    assert pq.read_schema(file).equals(dedup.REMOVED, check_metadata=True)
    assert _untokenized(file).equals(_untokenized(real / "evidence" / "removed.parquet"))
    assert len(_untokenized(file)) > 0
    _compare_counts(answer, out, real)
    assert answer["bands"] == ((32, 4) if "bands" in section else dedup.choose(changed["threshold"], 128, "signature"))
    assert render(answer).count("\n") > 10


def _compare_counts(answer: dict[str, Any], out: Path, real: Path) -> None:
    now, then = waterfall.load(out), waterfall.load(real)
    for name, told in answer["datasets"].items():
        for unit in ("documents", "bytes"):
            assert told["now"][unit] == now["datasets"][name]["outcomes"]["written"][unit]
            assert told["then"][unit] == then["datasets"][name]["outcomes"]["written"][unit]
            for outcome in DUPLICATES:
                assert told["removed"][outcome][unit] == then["datasets"][name]["outcomes"][outcome][unit]
    lost = {
        loser: {to: sum(n["documents"] for n in by.values()) for to, by in of.items()}
        for loser, of in answer["losses"].items()
    }
    assert lost == {loser: {to: count["documents"] for to, count in of.items()} for loser, of in then["losses"].items()}


@pytest.mark.parametrize(("rank", "threshold"), [("cab", None), ("bca", 0.7), ("acb", 0.3)])
def test_planted(serial: Serial, shared_data: Path, tmp_path: Path, rank: str, threshold: float | None) -> None:
    def run(names: str, out: Path, **section: Any) -> Path:
        sets = [
            {"name": name, "path": str(shared_data / "planted" / f"{name}.jsonl"), "id": "id", "transform": []}
            for name in names
        ]
        return serial.run({"name": "planted", "datasets": sets, "dedup": section, "output": {"path": str(out)}})

    out, file = run("abc", tmp_path / "out", threshold=0.5, verify="exact"), tmp_path / "then.parquet"
    answer = whatif(out, list(rank), threshold, output=file)
    real = run(rank, tmp_path / "real", threshold=threshold or 0.5)
    assert _untokenized(file).equals(_untokenized(real / "evidence" / "removed.parquet"))
    _compare_counts(answer, out, real)
    assert answer["comparisons_in_doubt"] > 0
    assert f"{answer['comparisons_in_doubt']:,} of the comparisons then are undecided" in render(answer)


def test_of_whole_components_passes_that_are_verified(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    out = serial.run(_recipe(entries, tmp_path / "out", **PINNED, verify="none", passes=["joint"]))
    answer = whatif(out, output=tmp_path / "then.parquet")
    real = serial.run(_recipe(entries, tmp_path / "real", **PINNED))
    assert _untokenized(tmp_path / "then.parquet").equals(_untokenized(real / "evidence" / "removed.parquet"))
    assert "passes: [joint]" in render(answer)


def test_of_datasets_that_take_no_part_or_have_no_documents(
    serial: Serial, entries: list[dict], tmp_path: Path
) -> None:
    nothing = {"filters": [{"signal": "n_words", "min": 10**6}]}
    sets = [entries[0], entries[1] | {"dedup": False}, entries[2] | nothing]
    out = serial.run(_recipe(sets, tmp_path / "out", **PINNED))
    whatif(out, ["c", "b", "a"], 0.7, output=tmp_path / "then.parquet")
    real = serial.run(_recipe(sets[::-1], tmp_path / "real", **PINNED | {"threshold": 0.7}))
    assert _untokenized(tmp_path / "then.parquet").equals(_untokenized(real / "evidence" / "removed.parquet"))
    empty = serial.run(_recipe([sets[2]], tmp_path / "empty", **PINNED))
    assert whatif(empty)["datasets"]["c"]["then"] == {"documents": 0, "bytes": 0}


@pytest.mark.parametrize("until", ["measure", "match", "decide"])
def test_of_runs_that_ended_early(serial: Serial, entries: list[dict], tmp_path: Path, until: str) -> None:
    out = serial.run(_recipe(entries, tmp_path / "out", **PINNED), until=until)
    answer = whatif(out, ["c", "b", "a"], 0.8, output=tmp_path / "then.parquet")
    real = serial.run(_recipe(entries[::-1], tmp_path / "real", **PINNED | {"threshold": 0.8}))
    assert _untokenized(tmp_path / "then.parquet").equals(_untokenized(real / "evidence" / "removed.parquet"))
    told = waterfall.load(real)["datasets"]
    assert {n: of["then"]["documents"] for n, of in answer["datasets"].items()} == {
        n: of["outcomes"]["written"]["documents"] for n, of in told.items()
    }
    serial.run(_recipe(entries, tmp_path / "out", **PINNED), until="decide")
    decided, finished = whatif(out), whatif(serial.run(_recipe(entries, tmp_path / "out", **PINNED)))
    assert decided == finished


def test_questions_that_cannot_be_answered(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    rules = [{"signal": "n_words", "min": 5}]
    out = serial.run(recipe(entries, tmp_path / "out", tokenizer=None, dedup=PINNED, filters=rules))
    (tmp_path / "there").touch()
    for question, message in {
        "a,b": "--rank: c is missing; give all datasets, the best first: a,b,c",
        "a,b,c,d,b": "--rank: d is unknown; b is named twice",
    }.items():
        with pytest.raises(RecipeError, match=message):
            whatif(out, question.split(","))
    with pytest.raises(RecipeError, match="'quality' is no signal, and no dataset has it in its metadata"):
        whatif(out, keep=["quality"])
    with pytest.raises(
        RecipeError, match=r"--keep: zyda\.pii_count: not measured on a; there are length, date, n_words"
    ):
        whatif(out, keep=["zyda.pii_count"])
    with pytest.raises(RecipeError, match=r"dedup\.threshold"):
        whatif(out, threshold=1.5)
    with pytest.raises(RecipeError, match=r"--output: .*there is there already"):
        whatif(out, output=tmp_path / "there")


def test_runs_that_have_no_answer(serial: Serial, entries: list[dict], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run\.json"):
        whatif(tmp_path)
    out = serial.run(recipe(entries, tmp_path / "none", tokenizer=None, dedup=None))
    with pytest.raises(RecipeError, match="its recipe says dedup: null"):
        whatif(out)
    changed = _recipe(entries[::-1], tmp_path / "out", **PINNED)
    account.begin(Store(serial.run(_recipe(entries, tmp_path / "out", **PINNED))), plan(load_recipe(changed)))
    with pytest.raises(InputError, match="has not come to its end"):
        whatif(tmp_path / "out")
    out = serial.run(_recipe(entries, tmp_path / "out", **PINNED))
    path = next(out.glob("work/signatures/b/*"))
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(InputError, match="lacks its signatures, wholly or in part"):
        whatif(out)
    path.write_bytes(bytes(len(content)))
    with pytest.raises(InputError, match=rf"{path.name}: differs from its checksum; `zydaflow verify"):
        whatif(out)
    clean(Store(out))
    with pytest.raises(InputError, match="lacks its list of documents, documents' places, signatures, signals, kept"):
        whatif(out)


def test_no_room_for_band_keys_and_logs(
    serial: Serial, entries: list[dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = serial.run(_recipe(entries, tmp_path / "out", **PINNED))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 10**6})())
    with pytest.raises(
        InputError, match=r"1\.0 MB are free, and Ray's logs and band keys may need 20\.0 MB; set TMPDIR"
    ):
        whatif(out)


def test_from_the_command_line(small_run: Path, tmp_path: Path) -> None:
    """On Ray, as people ask."""
    from zydaflow.cli import main

    datasets = json.loads((small_run / "statistics.json").read_text())["datasets"]
    rank = ",".join(sorted(datasets, key=lambda name: datasets[name]["rank"], reverse=True))
    file = tmp_path / "then.parquet"
    arguments = ["dedup", "whatif", str(small_run), "--rank", rank, "--threshold", "0.3", "-o", str(file)]
    assert main([*arguments, "--workers", "2"]) == 0
    assert pq.read_schema(file).equals(dedup.REMOVED, check_metadata=True)
    assert main([*arguments, "--workers", "2"]) == 2
