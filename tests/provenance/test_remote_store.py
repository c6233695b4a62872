"""A store at a URL: the same run, the same bytes; one owner at a time; records that are fetched once."""

import os
import pickle
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from inputs import datasets, recipe
from serial import Serial, results

from zydaflow.errors import RunError
from zydaflow.provenance import lock
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.known import Known, known
from zydaflow.provenance.verify import verify
from zydaflow.storage import files_below, path_of, read


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"memory://{tmp_path.name}/out"


DEDUP = {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4, "verify": "exact"}


def test_a_run_at_a_url_and_its_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> None:
    entries = datasets(tmp_path / "inputs")
    for change in (
        {},
        {"dedup": DEDUP | {"threshold": 0.9}},
        {"dedup": DEDUP, "filters": [{"signal": "n_words", "min": 30}]},
    ):
        options: dict[str, Any] = {"dedup": DEDUP, "resources": {"shard_bytes": 8000}, **change}
        there = Serial(monkeypatch).run(recipe(entries, url, **options))
        here = Serial(monkeypatch).run(recipe(entries, tmp_path / f"here{len(change)}{len(str(change))}", **options))
        assert results(there) == results(here)
        assert verify(url) == []


def test_records_are_fetched_once(url: str) -> None:
    store = Store(url)
    made = [
        store.commit(Record("keep", f"unit {k}", f"{k:032x}", {"a": store.write(f"work/{k}", b"12")})) for k in range(3)
    ]
    store.path("work/2").write_bytes(b"1")
    seen = known(store)
    assert isinstance(seen, Known)
    assert isinstance(pickle.loads(pickle.dumps(seen)), Store)
    assert not isinstance(pickle.loads(pickle.dumps(seen)), Known)
    found = [seen.find(record.stage, record.unit, record.fingerprint) for record in made]
    assert found == [*made[:2], None]
    seen.learn()
    assert seen.find("keep", made[2].unit, made[2].fingerprint) is None
    assert list(seen.records("keep")) == sorted(made[:2], key=lambda record: record.name)
    later = store.commit(Record("keep", "later", "f" * 32))
    store.withdraw(made[0])
    assert seen.find("keep", "later", "f" * 32) is None
    seen.learn()
    assert seen.find("keep", "later", "f" * 32) == later
    assert seen.find("keep", made[0].unit, made[0].fingerprint) is None
    own = seen.commit(Record("keep", "own", "e" * 32))
    assert seen.find("keep", "own", "e" * 32) == own
    seen.withdraw(own)
    assert seen.find("keep", "own", "e" * 32) is None
    assert Store(url).find("keep", "own", "e" * 32) is None


def test_a_store_on_a_disk_needs_no_memory(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert known(store) is store


def test_one_owner_at_a_time(url: str) -> None:
    with lock.owned(url):
        assert f"process {os.getpid()} on" in (lock.owner(url) or "")
        with pytest.raises(RunError, match=f"another run owns this folder .process {os.getpid()}"), lock.owned(url):
            pass
    assert lock.owner(url) is None
    assert files_below(path_of(url)) == {}


def _left(url: str, host: str, pid: int) -> None:
    sign = {"owner": f"process {pid} on {host}", "host": host, "pid": pid, "run": "1"}
    (path_of(url) / lock.FILE).write_bytes(orjson.dumps(sign))


def test_a_process_of_this_host_that_was_killed_owns_nothing(url: str) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    _left(url, os.uname().nodename, ended.pid)
    assert lock.owner(url) is None
    with lock.owned(url):
        pass


def test_an_owner_elsewhere_that_gives_no_sign_of_life(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    _left(url, "elsewhere", 1)
    assert (lock.owner(url) or "").startswith("process 1 on elsewhere, 0 s ago")
    with pytest.raises(RunError), lock.owned(url):
        pass
    monkeypatch.setattr(lock, "LEASE", timedelta(seconds=-1))
    assert lock.owner(url) is None
    with lock.owned(url):
        assert orjson.loads(read(path_of(url) / lock.FILE))["pid"] == os.getpid()


def test_the_owner_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.001)
    file = path_of(url) / lock.FILE
    with lock.owned(url):
        first = file.fs.modified(file.path)
        while file.fs.modified(file.path) == first:
            pass
