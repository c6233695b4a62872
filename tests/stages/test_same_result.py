"""The result is a function of recipe and input alone."""

import shutil
from pathlib import Path

import pytest
from inputs import datasets, recipe
from killing import Killed, die_at
from serial import Serial, results

from zydaflow.provenance.verify import verify
from zydaflow.provenance.waterfall import load


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, entries: list[dict]) -> dict[str, str]:
    out = tmp_path_factory.mktemp("expected")
    with pytest.MonkeyPatch.context() as patch:
        return results(Serial(patch).run(recipe(entries, out)))


def test_every_outcome_is_in_the_small_run(serial: Serial, entries: list[dict], out: Path) -> None:
    outcomes = load(serial.run(recipe(entries, out)))["total"]["outcomes"]
    counts = {name: count["documents"] for name, count in outcomes.items()}
    assert counts == {
        "unreadable": 1, "null": 1, "empty": 1, "filtered": 2,
        "removed_exact": 0, "removed_within": 2, "removed_across": 25, "pending": 0, "written": 80,
    }  # fmt: skip
    assert verify(out) == []


@pytest.mark.parametrize("shard_bytes", [1500, 20_000, 256_000_000])
def test_the_size_of_input_shards_changes_nothing(
    serial: Serial, entries: list[dict], out: Path, expected: dict[str, str], shard_bytes: int
) -> None:
    assert results(serial.run(recipe(entries, out, resources={"shard_bytes": shard_bytes}))) == expected


@pytest.mark.parametrize("order", [1, 2])
def test_the_order_of_work_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], out: Path, expected: dict[str, str], order: int
) -> None:
    small = recipe(entries, out, resources={"shard_bytes": 2000})
    assert results(Serial(monkeypatch, order).run(small)) == expected


def test_the_place_of_the_input_and_the_order_of_its_files_change_nothing(
    serial: Serial, tmp_path: Path, out: Path, expected: dict[str, str]
) -> None:
    entries = datasets(tmp_path / "elsewhere")
    for path in sorted(
        (tmp_path / "elsewhere" / "a").iterdir()
    ):  # listed as they were created: now the other way round
        shutil.move(shutil.copy(path, tmp_path / "moved"), path)
    found = results(serial.run(recipe(entries, out)))
    assert {k: v for k, v in found.items() if k != "corpus/README.md"} == {
        k: v
        for k, v in expected.items()
        if k != "corpus/README.md"  # which names the paths
    }


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_commit_and_resumed(
    entries: list[dict], tmp_path: Path, expected: dict[str, str], after: bool
) -> None:
    number, died = 1, True
    while died:
        out = tmp_path / str(number)
        small = recipe(entries, out)
        with pytest.MonkeyPatch.context() as patch:
            serial = Serial(patch)
            die_at(patch, number, after)
            try:
                serial.run(small)
                died = False
            except Killed:
                pass
        with pytest.MonkeyPatch.context() as patch:
            assert results(Serial(patch).run(small)) == expected, f"killed at commit {number}"
        assert verify(out) == []
        shutil.rmtree(out)
        number += 3
    assert number > 30


def test_a_compressed_file_goes_on_from_its_last_part(
    monkeypatch: pytest.MonkeyPatch, entries: list[dict], out: Path
) -> None:
    from zydaflow import sources
    from zydaflow.stages import raw

    small = recipe(entries[1:2], out, resources={"shard_bytes": 2000})
    with pytest.MonkeyPatch.context() as patch:
        serial = Serial(patch)
        die_at(patch, 4 * 4 + 1, after=True)  # four records a part: in the fifth part
        with pytest.raises(Killed):
            serial.run(small)
    begun: list[int] = []
    read = sources.read_shard

    def spied(*arguments, first_part: int = 0, **rest):
        begun.append(first_part)
        return read(*arguments, first_part=first_part, **rest)

    monkeypatch.setattr(raw.sources, "read_shard", spied)
    Serial(monkeypatch).run(small)
    assert begun == [4]
