"""Scratch arrays: in memory up to the limit, in files without a name beyond it."""

from pathlib import Path

import numpy as np
import pytest

from zydaflow.provenance.commits import Store
from zydaflow.provenance.scratch import Scratch


def mapped_files(folder: Path) -> int:
    """How many mappings of files in this folder the process has."""
    return Path("/proc/self/maps").read_text().count(str(folder))


def test_what_is_beyond_the_limit_lies_in_files_that_leave_nothing(tmp_path: Path) -> None:
    scratch = Scratch(Store(tmp_path), 100)
    first = scratch.full(10, 7, np.uint64)
    assert mapped_files(tmp_path) == 0
    second = scratch.full((3, 4), 5, np.uint32)  # 80 + 48 bytes
    assert mapped_files(tmp_path) == 1
    third = scratch.full(np.int64(5), 1, np.uint32)  # but 80 + 20
    assert mapped_files(tmp_path) == 1
    assert list(tmp_path.rglob("*")) == [tmp_path / "work"]
    assert type(second) is np.ndarray
    assert first.tolist() == [7] * 10
    assert second.tolist() == [[5] * 4] * 3
    assert third.tolist() == [1] * 5
    del second
    assert mapped_files(tmp_path) == 0


def test_an_array_that_is_given_up_makes_room(tmp_path: Path) -> None:
    scratch = Scratch(Store(tmp_path), 100)
    view = scratch.empty(10, np.uint64)[3:]
    second = scratch.empty(10, np.uint64)
    assert mapped_files(tmp_path) == 1, "a view keeps the whole array"
    del view, second
    assert scratch.full(10, 1, np.uint64).sum() == 10
    assert mapped_files(tmp_path) == 0


def test_arrays_of_nothing(tmp_path: Path) -> None:
    assert Scratch(Store(tmp_path), 0).empty((0, 3), np.int64).shape == (0, 3)


def test_a_file_that_cannot_be_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too large"):
        Scratch(Store(tmp_path), 0).empty(2**59, np.uint64)


@pytest.mark.parametrize(("limit", "files"), [(1000, 0), (100, 1), (0, 1)])
def test_pieces_become_one_array(tmp_path: Path, limit: int, files: int) -> None:
    pieces = [np.arange(k, dtype=np.uint64) for k in (0, 3, 9, 1, 12)]  # 200 bytes
    whole = Scratch(Store(tmp_path), limit).concatenate(iter(pieces), np.uint64)
    assert whole.tolist() == [value for piece in pieces for value in piece.tolist()]
    assert mapped_files(tmp_path) == files


def test_no_pieces_are_an_empty_array(tmp_path: Path) -> None:
    assert Scratch(Store(tmp_path), 0).concatenate([], np.uint64).tolist() == []
