"""The text that every Python environment has."""

import sysconfig
from pathlib import Path

import pytest
from reading import read, spec

from zydaflow.errors import InputError
from zydaflow.sources import installed, plan_dataset, read_shard
from zydaflow.sources.installed import LIMITS, Document, Limit, documents_of


@pytest.fixture(scope="module")
def readings():
    return {kind: read(f"installed:{kind}", name=kind) for kind in LIMITS}


def test_the_four_kinds_together_are_a_few_thousand_documents_below_20_mb(readings):
    counts = {kind: len(reading.rows) for kind, reading in readings.items()}
    assert counts["topics"] > 50
    assert counts["descriptions"] > 20
    assert counts["licenses"] > 20
    assert 1000 < sum(counts.values()) < 10_000
    assert 3_000_000 < sum(len(text.encode()) for reading in readings.values() for text in reading.texts) < 20_000_000


def test_they_hold_real_copies(readings):
    texts = readings["licenses"].texts + readings["source"].texts
    assert len(texts) - len(set(texts)) > 10


def test_documents_are_named_numbered_and_the_same_each_time(readings):
    got = readings["source"]
    assert got.positions == sorted(got.positions)
    assert got.ids == sorted(got.ids)
    assert all(name.startswith(("stdlib/", "packages/")) and name.endswith(".py") for name in got.ids)
    assert not any("site-packages" in name for name in got.ids)
    name, text = got.ids[0], got.texts[0]
    root = sysconfig.get_paths()["stdlib" if name.startswith("stdlib") else "purelib"]
    assert Path(root, name.split("/", 1)[1]).read_bytes().decode() == text
    assert read("installed:source", name="source").rows == got.rows


def test_a_description_is_without_its_header(readings):
    got = dict(zip(readings["descriptions"].ids, readings["descriptions"].texts, strict=True))
    (text,) = (text for name, text in got.items() if name.startswith("numpy-"))
    assert "Metadata-Version" not in text
    assert "NumPy" in text


def test_a_batch_holds_what_is_asked_for_and_a_sample_leaves_out():
    got = read("installed:topics", batch_bytes=50_000, sample=0.5)
    assert len(got.batches) > 5
    assert len(got.rows) + got.sampled_out == len(documents_of("topics"))
    assert got.sampled_out > 0


def test_the_limits_are_kept_by_names_alone(monkeypatch):
    everything = documents_of("topics")
    monkeypatch.setitem(LIMITS, "topics", Limit(100_000, 20_000))
    some = documents_of("topics")
    assert set(some) < set(everything)
    assert 50_000 < sum(document.size for document in some) <= 100_000
    assert max(document.size for document in some) <= 20_000


def test_copies_of_a_file_are_chosen_together(monkeypatch):
    found = [Document(f"{package}/{module}/a.py", 10, b"x") for package in "pq" for module in "abcdefgh"]
    monkeypatch.setattr(installed, "_found", lambda kind: found)
    monkeypatch.setitem(LIMITS, "source", Limit(80, 100))
    names = {document.id for document in documents_of("source")}
    assert len(names) == 8
    assert {name[2:] for name in names if name[0] == "p"} == {name[2:] for name in names if name[0] == "q"}


def test_a_file_that_is_not_utf8_is_quarantined(tmp_path, monkeypatch):
    (tmp_path / "b.py").write_bytes(b"# caf\xe9")
    found = [Document("a.py", 3, b"one"), Document("b.py", 6, tmp_path / "b.py"), Document("c.py", 5, b"three")]
    monkeypatch.setattr(installed, "_found", lambda kind: found)
    got = read("installed:source")
    assert (got.texts, got.ids, got.positions) == (["one", "three"], ["a.py", "c.py"], [0, 2])
    (row,) = got.bad
    assert (row["position"], row["bytes"], row["excerpt"]) == (1, 6, "# caf\ufffd")
    assert row["reason"].startswith("not UTF-8: 'utf-8' codec can't decode byte 0xe9")


def test_another_environment_than_the_planned_one_is_refused(monkeypatch):
    dataset = spec("installed:topics")
    (shard,) = plan_dataset(dataset, 10**9).shards
    monkeypatch.setattr(installed, "_found", lambda kind: [Document("a", 1, b"x")])
    with pytest.raises(InputError, match="not those that the run was planned with"):
        list(read_shard(shard, dataset, part_bytes=10**9, seed=1))


def test_an_unknown_kind_and_column_are_named():
    with pytest.raises(InputError, match="the kinds are topics, descriptions, licenses, source"):
        plan_dataset(spec("installed:games"), 100)
    with pytest.raises(InputError, match=r"no column 'body', which text: names in the recipe; it has id, text"):
        plan_dataset(spec("installed:topics", text="body"), 100)
