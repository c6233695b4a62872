"""What a power failure may leave: a record never outlives what it names, or the work behind it counts as not done."""

import os
from pathlib import Path

import pytest

from zydaflow.provenance import commits
from zydaflow.provenance.commits import DamagedArtefact, Record, Store
from zydaflow.storage import secure


def test_all_but_working_files_are_on_disk_before_their_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    store = Store(tmp_path)
    store.write("work/bands/0", b"1")
    assert synced == []
    store.write("evidence/removed", b"22")
    record = store.commit(Record("stage", "unit", "fingerprint"))
    assert synced == [2]
    secure([store.path(record.name)])  # as at the end of a run, before run.json says so
    assert synced == [2, store.path(record.name).stat().st_size]


def test_a_working_file_that_was_lost_is_not_taken_as_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    artefact = store.write("work/bands/0", b"keys")
    store.commit(Record("stage", "unit", "fingerprint", {"keys": artefact}))
    assert store.find("stage", "unit", "fingerprint")
    store.path("work/bands/0").write_bytes(bytes(4))  # the size was written, the content was not
    with pytest.raises(DamagedArtefact, match="differs from its checksum"):
        store.map(artefact)
    store.path("work/bands/0").write_bytes(b"")
    assert store.find("stage", "unit", "fingerprint") is None


def test_a_large_file_comes_to_the_disk_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(commits, "SYNCED", 4)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    for folder, expected in (("corpus/a", [4, 9, 11]), ("work/kept", [])):
        synced.clear()
        with Store(tmp_path).create(folder) as out:
            for data in (b"1234", b"56", b"789", b"ab"):
                out.write(data)
            out.finish(f"{folder}/file", 1)
        assert synced == expected
