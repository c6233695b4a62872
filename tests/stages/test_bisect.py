"""Documents that make a process exit, crash, hang or raise: each costs itself alone, on a real Ray."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from oneray import OneRay, one_ray
from serial import results
from small import texts

import zydaflow
from zydaflow.provenance.verify import verify
from zydaflow.stages.failing import failing_rows
from zydaflow.stages.trial import Failure, Trial

HOSTILE = Path(__file__).parent.parent / "support" / "hostile"
SECONDS = 2
REASONS = {
    "exit": "its processing ended the process (exit status 3)",
    "crash": "its processing ended the process (SIGSEGV)",
    "hang": f"its processing took longer than {SECONDS} s",
    "raise": "its processing raised ValueError: a fault in the code",
}


def _documents(count: int, marked: dict[int, str]) -> list[dict]:
    """Documents of which some are marked."""
    found = texts(count, seed=3)
    return [{"id": f"d{k}", "text": f"<{marked[k]}> {text}" if k in marked else text} for k, text in enumerate(found)]


def _write(folder: Path, documents: list[dict], **changes: object) -> Path:
    lines = [json.dumps(document) for document in documents]
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    recipe = {
        "name": "hostile",
        "datasets": [{"name": "a", "path": str(folder / "in.jsonl"), "id": "id"}],
        "filters": [{"signal": "test.hostile", "max": 1}],
        "output": {"path": str(folder / "run")},
        "resources": {"document_seconds": SECONDS, "memory_per_task": "500MB"},
    } | changes
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    return folder / "recipe.yaml"


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is not there; while it is, memory suffices for every document."""
    return tmp_path_factory.mktemp("orders") / "calm"


@pytest.fixture(scope="module")
def ray(calm: Path) -> Iterator[OneRay]:
    """A Ray in whose processes marked documents do harm."""
    path = os.pathsep.join([str(HOSTILE), str(HOSTILE.parent.parent.parent), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.setenv("HOSTILE_CALM", str(calm))
        with one_ray() as ray:
            yield ray


def test_one_in_a_thousand_of_each_kind_is_set_aside_and_the_others_finish(tmp_path: Path, ray: OneRay) -> None:
    marked = {17: "exit", 18: "raise", 500: "hang", 999: "crash"}
    documents = _documents(1000, marked)
    started = time.monotonic()
    done = ray.run(_write(tmp_path, documents))
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 100
    run = zydaflow.open_run(tmp_path / "run")
    lines = (tmp_path / "in.jsonl").read_bytes().split(b"\n")
    expected = [
        {
            "dataset": "a",
            "file": "in.jsonl",
            "position": sum(len(line) + 1 for line in lines[:k]),
            "bytes": len(documents[k]["text"]),
            "reason": f"{REASONS[kind]}; its id is d{k}",
            "excerpt": documents[k]["text"][:200],
        }
        for k, kind in marked.items()
    ]
    assert run.quarantine().to_pylist() == expected
    found = run.statistics["datasets"]["a"]
    assert found["read"] == {
        "documents": 1000,
        "bytes": sum(len(d["text"]) for k, d in enumerate(documents) if k not in marked),
    }
    assert {k: v["documents"] for k, v in found["outcomes"].items() if v["documents"]} == {
        "unreadable": 4,
        "written": 996,
    }
    assert (found["unprocessed"], found["unreadable_file_bytes"]) == (4, sum(row["bytes"] for row in expected))
    assert "warning: 4 documents cannot be processed" in done.stderr
    assert all(f"in.jsonl at {row['position']:,}: {row['reason']}" in done.stderr for row in expected)
    assert (
        "4 unreadable records have a text that could not be processed"
        in (tmp_path / "run/report/index.html").read_text()
    )
    assert verify(tmp_path / "run") == []


def _large(word: str) -> list[dict]:
    """Some 3 MB of documents that say how they are to be killed where they are too many at once."""
    return [{"text": f"<{word}> {k} {text}"} for k, text in enumerate(texts(50, seed=4) * 140)]


@pytest.mark.parametrize("word", ["memory", "killed", "greedy"])
def test_memory_that_does_not_suffice_leads_to_smaller_batches_and_the_same_result(
    tmp_path: Path, ray: OneRay, calm: Path, word: str
) -> None:
    path = tmp_path / "large.jsonl"
    path.write_text("\n".join(map(json.dumps, _large(word))))
    entries = [{"name": word, "path": str(path)}]
    done = ray.run(_write(tmp_path, [], datasets=entries))
    assert done.returncode == 0, done.stderr
    assert "1/1 units" in done.stderr
    assert "1 retried" in done.stderr
    assert verify(tmp_path / "run") == []
    disturbed = results(tmp_path / "run")
    calm.touch()
    done = ray.run(_write(tmp_path, [], datasets=entries, output={"path": str(tmp_path / "calm")}))
    calm.unlink()
    assert "retried" not in done.stderr
    assert results(tmp_path / "calm") == disturbed


@pytest.mark.parametrize("fault", ["hang", "crash"])
def test_parsing_that_does_not_return_fails_its_file_alone_which_is_named(
    tmp_path: Path, ray: OneRay, fault: str
) -> None:
    documents = _documents(40, {7: f"reading-{fault}"})
    (tmp_path / "fine.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts(20, seed=5)))
    entries = [{"name": "a", "path": str(tmp_path / "in.jsonl")}, {"name": "b", "path": str(tmp_path / "fine.jsonl")}]
    done = ray.run(_write(tmp_path, documents, datasets=entries))
    assert done.returncode == 4
    assert "measure: 1 of the units failed, the others are done" in done.stderr
    how = f"took longer than {SECONDS} s" if fault == "hang" else "ended the process (SIGSEGV)"
    assert f"{tmp_path}/in.jsonl: reading on from its beginning {how}" in done.stderr
    (failure,) = json.loads((tmp_path / "run" / "failures.json").read_bytes())["failures"]
    assert failure["tries"] == "2"


@pytest.mark.parametrize(
    ("at", "fault", "stage"),
    [
        ("tokens", "hang", "tokenize"),
        ("tokens", "crash", "count"),
        ("tokens", "raise", "tokenize"),
        ("training", "hang", "train"),
    ],
)
def test_a_kept_document_that_the_tokenizer_fails_on_is_named(
    tmp_path: Path, ray: OneRay, at: str, fault: str, stage: str
) -> None:
    documents = _documents(60, {40: f"{at}-{fault}"})
    place = sum(len(json.dumps(document)) + 1 for document in documents[:40])
    entries = [{"name": "a", "path": str(tmp_path / "in.jsonl")}]
    if stage == "count":  # it goes as the duplicate of one that does no harm
        (tmp_path / "better.jsonl").write_text(json.dumps({"text": documents[40]["text"].partition(" ")[2]}))
        entries.insert(0, {"name": "better", "path": str(tmp_path / "better.jsonl")})
    dedup = {"shingle": {"size": 3}, "threshold": 0.5}
    done = ray.run(_write(tmp_path, documents, datasets=entries, dedup=dedup, tokenizer={"train": {"vocab_size": 300}}))
    assert done.returncode == 4
    (failure,) = json.loads((tmp_path / "run" / "failures.json").read_bytes())["failures"]
    assert f"the tokenizer fails on the document at {place:,} of in.jsonl: " in failure["error"]
    assert REASONS[fault] in failure["error"]
    assert f"{stage}: 1 of the units failed" in done.stderr
    assert int(failure["tries"]) == 2


class _Counting(Trial):
    """Fails where the rows hold one of these; counts how often it was asked."""

    def __init__(self, *bad: int) -> None:
        self.bad, self.tried, self.ended = bad, 0, 0

    def failure(self, path: str, low: int, high: int) -> Failure | None:
        self.tried += 1
        if not any(low <= row < high for row in self.bad):
            return None
        self.ended += 1
        return Failure("it ended")


def test_a_document_is_found_within_bounded_tries() -> None:
    rows = pa.record_batch([pa.array(range(10_000))], ["row"])
    one = _Counting(4711)
    assert [row for row, _ in failing_rows(one, rows)] == [4711]
    assert one.ended == 4  # processes: 10,000 rows, 157, 3, 1
    assert one.tried == 1 + 64 + 53 + 3
    five = _Counting(0, 1, 4711, 4712, 9999)
    assert [row for row, _ in failing_rows(five, rows)] == [0, 1, 4711, 4712, 9999]
    assert five.ended <= 5 * 4
    assert five.tried <= 1 + 64 + 5 * (53 + 3)
    none = _Counting()
    assert list(failing_rows(none, rows)) == []
    assert none.tried == 1


def test_an_error_in_most_documents_is_not_taken_for_their_fault(tmp_path: Path, ray: OneRay) -> None:
    documents = _documents(40, dict.fromkeys(range(25), "raise"))
    (tmp_path / "fine.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts(20, seed=5)))
    entries = [{"name": "a", "path": str(tmp_path / "in.jsonl")}, {"name": "b", "path": str(tmp_path / "fine.jsonl")}]
    done = ray.run(_write(tmp_path, documents, datasets=entries))
    assert done.returncode == 4
    assert "measure: 1 of the units failed, the others are done" in done.stderr
    assert "in.jsonl@000000000000000: ValueError: a fault in the code" in done.stderr
    assert 'raise ValueError("a fault in the code")' in done.stderr  # its real traceback
    assert not (tmp_path / "run" / "quarantine").exists()


def test_a_scorer_that_fails_on_one_in_a_hundred_scores_the_others(tmp_path: Path, ray: OneRay) -> None:
    marked = {17: "exit", 118: "raise", 250: "hang", 399: "crash"}
    function = HOSTILE.parent / "scorers.py"
    documents = [{"id": f"d{k}", "text": f"<{marked[k]}>" if k in marked else "x" * k} for k in range(400)]
    scorers = {"size": {"function": f"{function}:hostile", "seconds": SECONDS, "memory": "200MB", "actors": 2}}
    rules = [{"signal": "scorer.size", "max": 300}]
    done = ray.run(_write(tmp_path, documents, scorers=scorers, filters=rules, dedup=None))
    assert done.returncode == 0, done.stderr
    rows = zydaflow.open_run(tmp_path / "run").signals("a", ["id", "verdict", "scorer.size"]).to_pylist()
    assert {row["id"]: row["scorer.size"] for row in rows} == {
        f"d{k}": None if k in marked or k == 0 else float(k) for k in range(400)
    }
    verdicts = {k: "empty" if k == 0 else "filtered" if k > 300 and k not in marked else "kept" for k in range(400)}
    assert [row["verdict"] for row in rows] == list(verdicts.values())
    assert "warning: 4 scores could not be had" in done.stderr
    assert all(f": {REASONS[kind]}; its id is d{k}" in done.stderr for k, kind in marked.items())
    assert verify(tmp_path / "run") == []
