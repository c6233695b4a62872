"""Files that were changed, cut or taken away: found, and made again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from damage import cut, flip
from inputs import recipe
from serial import Serial, results

from zydaflow.errors import InputError
from zydaflow.pipeline import STAGES
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load


def _empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: list[Callable[[Path], None]] = [flip, cut, _empty, Path.unlink]
AREAS = ["corpus/a/*.arrow", "corpus/a/state.json", "signals/b/*", "evidence/removed.parquet", "quarantine/a/*"]
WORK = [
    "work/signals/c/*",
    "work/kept/a/*",
    "work/documents/b/*",
    "work/signatures/a/*",
    "work/decide/*",
    "work/select/*",
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("area", AREAS)
def test_verify_finds_it(
    serial: Serial, entries: list[dict], out: Path, area: str, damage: Callable[[Path], None]
) -> None:
    serial.run(recipe(entries, out))
    assert verify(out) == []
    path = sorted(out.glob(area))[0]
    damage(path)
    problems = verify(out)
    assert len(problems) == 1
    assert problems[0].startswith(str(path.relative_to(out)))


@pytest.mark.parametrize("area", ["corpus/a/data-00009-of-00010.arrow", "signals/a/other.parquet"])
def test_verify_finds_files_that_belong_to_nothing(serial: Serial, entries: list[dict], out: Path, area: str) -> None:
    serial.run(recipe(entries, out))
    (out / area).write_bytes(b"x")
    assert verify(out) == [f"{area}: belongs to no commit record"]


def test_verify_finds_a_record_that_is_torn(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    cut(sorted(out.glob("commits/tokenize/*"))[0])
    assert any("cannot be read" in problem for problem in verify(out))


def _remove(out: Path, *patterns: str) -> None:
    for pattern in patterns:
        for path in sorted(out.glob(pattern), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()


@pytest.mark.parametrize(
    "patterns",
    [
        ["commits/*/*", "commits/*", "corpus/**/*", "signals/**/*", "evidence/*", "quarantine/**/*", "work/**/*"],
        ["corpus/a/data-00000-*", "commits/tokenize/*corpus_a_data-00000*"],
        ["corpus/*/*.arrow", "commits/tokenize/*"],
        ["evidence/*", "commits/evidence/*"],
        ["recipe.yaml"],
        ["statistics.json"],
    ],
)
def test_verify_finds_what_was_taken_away_with_its_records(
    serial: Serial, entries: list[dict], out: Path, patterns: list[str]
) -> None:
    serial.run(recipe(entries, out))
    _remove(out, *patterns)
    assert verify(out)


def test_verify_finds_statistics_that_were_changed(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    path = out / "statistics.json"
    path.write_text(path.read_text().replace('"broken_alone"', '"broken_alOne"', 1))
    assert [problem.split(":")[0] for problem in verify(out)] == ["statistics.json", "statistics.json"]


def test_work_may_be_cleaned_away(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    _remove(out, "work/**/*")
    assert verify(out) == []


def test_verify_tells_an_unfinished_run(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out), until="measure")
    assert verify(out) == ["run.json: the run has not come to its end; `zydaflow run` goes on with it"]


def test_files_of_others_stay(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    for path in ("notes.txt", "work/mine.arrow", "corpus/a/mine.txt"):
        (out / path).write_text("mine")
    serial.run(recipe(entries, out, dedup=None))
    assert [(out / path).read_text() for path in ("notes.txt", "work/mine.arrow", "corpus/a/mine.txt")] == ["mine"] * 3
    assert verify(out) == [
        "corpus/a/mine.txt: belongs to no commit record",
        "work/mine.arrow: belongs to no commit record",
    ]


def test_verify_refuses_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run\.json"):
        verify(tmp_path)


@pytest.mark.parametrize("damage", [cut, _empty, Path.unlink])
@pytest.mark.parametrize("area", WORK)
def test_what_is_short_or_missing_is_made_again(
    serial: Serial, entries: list[dict], out: Path, area: str, damage: Callable[[Path], None]
) -> None:
    before = results(serial.run(recipe(entries, out)))
    damage(sorted(out.glob(area))[0])
    small = recipe(entries, out, output={"path": str(out), "shard_text": "19kB"})
    serial.run(small)
    assert results(serial.run(recipe(entries, out))) == before
    assert verify(out) == []


@pytest.mark.parametrize("area", ["work/kept/a/*", "work/documents/b/*", "work/signatures/a/*"])
def test_a_flipped_bit_is_found_when_it_is_read_and_mended(
    serial: Serial, entries: list[dict], out: Path, area: str
) -> None:
    small = recipe(entries, out)
    before = results(serial.run(small))
    path = sorted(out.glob(area))[0]
    flip(path)
    changed = recipe(
        entries, out, dedup=small["dedup"] | {"bands": 16, "rows": 8}, output={"path": str(out), "text": False}
    )
    with pytest.raises(DamagedArtefact, match="differs from its checksum") as damage:
        serial.run(changed)
    Store(out).withdraw_artefacts(damage.value.path)
    serial.run(changed)
    assert results(serial.run(small)) == before


def test_a_damaged_tokenizer_is_not_used(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    flip(out / "corpus" / "tokenizer.json")
    changed = recipe(entries, out, output={"path": str(out), "shard_text": "20kB", "text": False})
    with pytest.raises(DamagedArtefact, match=r"tokenizer\.json"):
        serial.run(changed)


def test_what_killed_runs_of_other_recipes_left_is_cleared(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    left = [
        "corpus/a/data-00000-of-00077.arrow",
        "corpus/b/.zydaflow-tmp-0123456789ab",
        "signals/a/x-0123456789.0123456789ab.parquet",
        "commits/judge/x-0123456789.0123456789ab.json",
    ]
    for path in left:
        (out / path).write_bytes(b"x")
    serial.run(recipe(entries, out, filters=[]))
    assert [path for path in left if (out / path).exists()] == []
    assert verify(out) == []


@pytest.mark.parametrize("content", [b"", b"null", b"5", b"{}", b'{"record": [], "xxh3": ""}'])
def test_a_record_that_is_none_is_work_not_done(serial: Serial, entries: list[dict], out: Path, content: bytes) -> None:
    before = results(serial.run(recipe(entries, out)))
    sorted(out.glob("commits/judge/*"))[0].write_bytes(content)
    assert results(serial.run(recipe(entries, out))) == before
    assert verify(out) == []


def test_a_number_flipped_in_a_record_is_noticed(serial: Serial, entries: list[dict], out: Path) -> None:
    before = results(serial.run(recipe(entries, out)))
    path = sorted(out.glob("commits/judge/*"))[0]
    path.write_bytes(path.read_bytes().replace(b'"kept":2', b'"kept":3'))
    assert results(serial.run(recipe(entries, out))) == before


def test_statistics_of_an_earlier_recipe_do_not_pass_for_these(serial: Serial, entries: list[dict], out: Path) -> None:
    serial.run(recipe(entries, out))
    with pytest.raises(InputError):
        serial.run(recipe([*entries, {"name": "d", "path": str(out / "nothing")}], out))
    assert load(out)["finished"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STAGES, "decide", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            serial.run(recipe(entries, out, filters=[]))
    with pytest.raises(InputError, match="there are no statistics"):
        load(out)
