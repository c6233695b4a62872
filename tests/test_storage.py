"""Files on a disk and at a URL, by the same functions."""

from pathlib import Path

import pytest
from upath import UPath

from zydaflow import patience, storage
from zydaflow.storage import path_of


@pytest.fixture(params=["disk", "url"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> UPath:
    return path_of(tmp_path if request.param == "disk" else f"memory://{tmp_path.name}/x")


def put(folder: UPath, **files: bytes) -> None:
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_files_below_are_sorted_by_their_whole_path(folder: UPath) -> None:
    put(folder, b__c=b"12", a=b"1", b__a__z=b"", c=b"123")
    assert list(storage.files_below(folder).items()) == [("a", 1), ("b/a/z", 0), ("b/c", 2), ("c", 3)]
    assert storage.files_below(folder / "b") == {"a/z": 0, "c": 2}
    assert storage.files_below(folder / "none") == {}


def test_contents_leave_out_what_is_gone(folder: UPath) -> None:
    put(folder, a=b"1", b__c=b"2")
    assert list(storage.contents(folder, ["b/c", "none", "a"])) == [("b/c", b"2"), ("a", b"1")]
    assert storage.read(folder / "a") == b"1"
    with pytest.raises(FileNotFoundError):
        storage.read(folder / "none")


def test_remove_and_move(folder: UPath) -> None:
    put(folder, a=b"1", b__c=b"2", d=b"3")
    storage.move(folder / "a", folder / "e/f")
    storage.move(folder / "d", folder / "b/c")
    storage.remove([folder / "none"])
    storage.remove([])
    assert storage.files_below(folder) == {"b/c": 1, "e/f": 1}
    assert storage.read(folder / "b/c") == b"3"
    storage.remove([folder / "b/c", folder / "none"])
    assert storage.files_below(folder) == {"e/f": 1}


def test_mapped_and_seekable(folder: UPath) -> None:
    put(folder, a=b"0123456789")
    assert storage.mapped(folder / "a", 10).to_pybytes() == b"0123456789"
    with storage.seekable(folder / "a") as file:
        file.seek(4)
        assert file.read(2) == b"45"


def test_a_file_that_does_not_come_whole_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "WAITS", ())
    folder = path_of(f"memory://{tmp_path.name}/cut")
    put(folder, a=b"0123")
    with pytest.raises(ConnectionError, match="4 bytes came, of 10"):
        storage.mapped(folder / "a", 10)


def test_size_and_stamp(folder: UPath) -> None:
    put(folder, a=b"0123")
    assert (storage.size_of(folder / "a"), storage.size_of(folder / "b"), storage.size_of(folder / "a/b")) == (
        4,
        None,
        None,
    )
    with pytest.raises(FileNotFoundError):
        storage.stamp(folder / "b")
    before = storage.stamp(folder / "a")
    assert storage.stamp(folder / "a") == before
    put(folder, a=b"01234")
    assert storage.stamp(folder / "a") != before


def test_of_a_folder_that_is_not_made_to_its_end_nothing_is_left(folder: UPath) -> None:
    (folder.parent if storage.is_local(folder) else folder).mkdir(parents=True, exist_ok=True)

    def half() -> None:
        with storage.being_made(folder / "new") as new:
            put(new, a__b=b"1")
            raise KeyError

    with pytest.raises(KeyError):
        half()
    assert storage.files_below(folder) == {}
    with storage.being_made(folder / "new") as new:
        put(new, a__b=b"1")
    assert storage.files_below(folder) == {"new/a/b": 1}


def test_a_temporary_folder_goes(folder: UPath) -> None:
    with storage.temporary_folder(folder) as inside:
        put(path_of(inside), a__b=b"1")
        assert len(storage.files_below(folder)) == 1
    assert storage.files_below(folder) == {}


def test_names_of_files_of_other_folders() -> None:
    root = path_of("s3://bucket/out")
    assert str(storage.below(root, "work/a")) == "s3://bucket/out/work/a"
    assert str(storage.below(root, "gs://other/a")) == "gs://other/a"
    assert str(storage.below(root, "/disk/a")) == "/disk/a"
