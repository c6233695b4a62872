"""The original's joint pass and Zyda-2's form, by what distinguishes them from the default."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from inputs import WORDS
from serial import Serial

from zydaflow.recipe import load_recipe

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
WINDOW, STEP, CHAIN = 200, 60, 7


def write(folder: Path, name: str, texts: list[str]) -> dict[str, Any]:
    path = folder / f"{name}.jsonl"
    rows = [{"id": f"{name}{number}", "text": text} for number, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"name": name, "path": str(path), "id": "id"}


def run(serial: Serial, entries: list[dict], out: Path, dedup: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The removals by id."""
    out = serial.run({"name": "form", "datasets": entries, "dedup": dedup, "output": {"path": str(out)}})
    return {row["id"]: row for row in pq.read_table(out / "evidence" / "removed.parquet").to_pylist()}


@pytest.fixture
def chain() -> list[str]:
    """Windows of a text: each is like its neighbours (Jaccard 0.54), less like the next but one (0.25)."""
    rng = random.Random(11)
    words = [rng.choice(WORDS) + str(k) for k in range(WINDOW + STEP * (CHAIN - 1))]
    return [" ".join(words[k * STEP : k * STEP + WINDOW]) for k in range(CHAIN)]


def test_the_joint_pass_takes_whole_components_unverified(
    serial: Serial, tmp_path: Path, out: Path, chain: list[str]
) -> None:
    """One document of the best rank stays, here in the middle of the chain, and the ends go for it, unlike it."""
    entries = [write(tmp_path, "best", chain[3:4]), write(tmp_path, "rest", chain[:3] + chain[4:])]
    split = {"shingle": {"size": 1}, "threshold": 0.5, "bands": 64, "rows": 2}
    joint = run(serial, entries, out, split | {"passes": ["joint"], "verify": "none"})
    assert {gone: row["kept_id"] for gone, row in joint.items()} == {f"rest{k}": "best0" for k in range(6)}
    assert {row["outcome"] for row in joint.values()} == {"removed_across"}
    assert joint["rest0"]["jaccard_estimate"] < 0.1  # 20 words of 200 are common
    verified = run(serial, entries, tmp_path / "verified", split | {"verify": "exact"})
    assert set(verified) < set(joint)
    assert all(row["jaccard"] >= 0.5 for row in verified.values())
    assert {verified["rest2"]["kept_id"], verified["rest3"]["kept_id"]} == {"best0"}
    assert "rest0" not in verified or verified["rest0"]["kept_id"] == "rest1"


def test_the_joint_pass_is_one_pass_over_all_datasets(
    serial: Serial, tmp_path: Path, out: Path, chain: list[str]
) -> None:
    """Two documents of one dataset, linked only through one of another, are one component: the first stays for both."""
    entries = [write(tmp_path, "ends", [chain[0], chain[3]]), write(tmp_path, "links", chain[1:3])]
    spec = {"shingle": {"size": 1}, "threshold": 0.5, "bands": 64, "rows": 2, "passes": ["joint"], "verify": "none"}
    gone = run(serial, entries, out, spec)
    assert len(gone) == 3
    assert sorted(row["outcome"] for row in gone.values()) == ["removed_across", "removed_across", "removed_within"]
    assert len({row["kept_id"] for row in gone.values()} & {"ends0", "ends1"}) == 1


def replaced(text: str, share: float, seed: int) -> str:
    """The text with a share of its words, side by side, replaced: of the shingles of 25 characters about as many go."""
    rng, words = random.Random(seed), text.split()
    count = round(len(words) * share)
    words[10 : 10 + count] = [rng.choice(WORDS) + "q" for _ in range(count)]
    return " ".join(words)


def test_zyda_2s_form(serial: Serial, tmp_path: Path, out: Path) -> None:
    """25 characters, 8 × 16, across only: near-copies of another dataset go, those of the own one stay."""
    spec = load_recipe(CONFIGS / "zyda-2.yaml").dedup
    assert spec is not None
    assert (spec.shingle.unit, spec.shingle.size, spec.bands, spec.rows) == ("character", 25, 8, 16)
    assert (spec.passes, spec.threshold, spec.permutations) == (("across",), 0.85, 128)
    rng = random.Random(12)
    texts = [" ".join(rng.choice(WORDS) for _ in range(1000)) for _ in range(30)]
    close = [replaced(text, 0.01, k) for k, text in enumerate(texts[:10])]  # Jaccard 0.97
    loose = [replaced(text, 0.2, k) for k, text in enumerate(texts[10:20])]  # Jaccard 0.66
    entries = [write(tmp_path, "first", texts), write(tmp_path, "second", [*close, *loose, texts[29], texts[29]])]
    gone = run(serial, entries, out, spec.model_dump(mode="json"))
    same = {f"second{k}": f"first{k}" for k in range(10)}
    assert {name: row["kept_id"] for name, row in gone.items()} == same | {"second20": "first29", "second21": "first29"}
    own = [write(tmp_path, "own", [*texts[:3], *texts[:3]])]
    assert run(serial, own, tmp_path / "own-out", spec.model_dump(mode="json")) == {}


def test_shingles_of_characters_see_what_words_do_not(serial: Serial, tmp_path: Path, out: Path) -> None:
    """A letter more in every tenth word breaks all shingles of 13 words, and some of those of 10 characters."""
    rng = random.Random(13)
    words = [rng.choice(WORDS) for _ in range(600)]
    changed = [word + "s" if k % 10 == 0 else word for k, word in enumerate(words)]
    entries = [write(tmp_path, "first", [" ".join(words)]), write(tmp_path, "second", [" ".join(changed)])]
    by_word = {"shingle": {"unit": "word", "size": 13}, "threshold": 0.4, "bands": 64, "rows": 2}
    by_character = by_word | {"shingle": {"unit": "character", "size": 10}}
    assert run(serial, entries, out, by_word) == {}
    assert set(run(serial, entries, tmp_path / "characters", by_character)) == {"second0"}
