"""Expected pairs: exactly those of a slow count where all is read, and near it where a part is."""

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from zydaflow.dedup import shingle_sets, sketch
from zydaflow.dedup.pairs import Signed, agreements
from zydaflow.foresight import expected as module
from zydaflow.foresight.expected import Estimate, expect
from zydaflow.foresight.sample import Sampled, take
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.stages.plan import plan

BANDS, ROWS, VALUES = 3, 2, 8


def texts(count: int, seed: int) -> list[str]:
    """Documents that begin like one of three and go on by themselves."""
    rng = random.Random(seed)
    base = [[f"{letter}{k}" for k in range(30)] for letter in "abc"]
    return [
        " ".join(base[n % 3][: rng.randint(3, 30)] + [f"u{seed}x{n}y{k}" for k in range(rng.randint(0, 20))])
        for n in range(count)
    ]


def recipe(folder: Path, **dedup: Any) -> Recipe:
    """Two datasets of 30 and 20 documents, the last of each without words."""
    for name, count in (("a", 30), ("b", 20)):
        lines = [json.dumps({"text": text}) for text in [*texts(count - 1, ord(name)), "?!"]]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    cut = {"shingle": {"unit": "word", "size": 1}, "permutations": VALUES, "bands": BANDS, "rows": ROWS}
    return load_recipe(
        {
            "name": "pairs",
            "datasets": [{"name": name, "path": str(folder / f"{name}.jsonl")} for name in "ab"],
            "dedup": {**cut, "threshold": 0.5, **dedup},
            "output": {"path": str(folder / "out")},
        }
    )


def sampled(recipe: Recipe, allowance: float = 1e6) -> list[Sampled]:
    return [take(recipe, number, dataset, allowance) for number, dataset in enumerate(plan(recipe).datasets)]


def chance(places: int) -> float:
    """That a band is full if `places` of the values agree: of all ways to place them."""
    ways = [set(way) for way in combinations(range(VALUES), places)]
    return sum(any(way >= {b * ROWS, b * ROWS + 1} for b in range(BANDS)) for way in ways) / len(ways)


def slow(recipe: Recipe) -> dict[str, list[float]]:
    """similar, missed, candidates and false, by pass, from all pairs one by one."""
    spec = recipe.dedup
    assert spec is not None
    found = {"within": [0.0] * 4, "across": [0.0] * 4}
    documents = [
        (d.name, text) for d, n in zip(recipe.datasets, (29, 19), strict=True) for text in texts(n, ord(d.name))
    ]
    column = pa.array([text for _, text in documents], pa.large_string())
    values, sets = sketch(column, spec.shingle, VALUES, recipe.seed).signatures, shingle_sets(column, spec.shingle)
    words = [{*sets.hashes[start:stop].tolist()} for start, stop in zip(sets.starts, sets.stops, strict=True)]
    for i, j in combinations(range(len(documents)), 2):
        places = int((values[i] == values[j]).sum())
        exact = len(words[i] & words[j]) >= spec.threshold * len(words[i] | words[j])
        alike = exact if spec.verify == "exact" else places >= spec.threshold * VALUES
        row = found["within" if documents[i][0] == documents[j][0] else "across"]
        for k, value in enumerate((alike, alike * (1 - chance(places)), chance(places), (not alike) * chance(places))):
            row[k] += value
    return found


@pytest.mark.parametrize("verify", ["signature", "exact"])
def test_where_all_is_read_the_numbers_are_those_of_all_pairs(tmp_path, monkeypatch, verify) -> None:
    monkeypatch.setattr("zydaflow.dedup.pairs.COMPARED", 10_000)
    told = recipe(tmp_path, verify=verify)
    found = {e.link: [estimate.value for estimate in e[1:]] for e in expect(told, sampled(told))}
    assert found == {link: pytest.approx(values) for link, values in slow(told).items()}
    assert min(min(values) for values in found.values()) > 1


def test_what_the_recipe_keeps_apart_does_not_count(tmp_path) -> None:
    told = recipe(tmp_path, passes=["within"])
    (within,) = expect(told, sampled(told))
    assert within.candidates.value == pytest.approx(slow(told)["within"][2])
    frozen = load_recipe({**told.model_dump(mode="json"), "name": "frozen"}, ["datasets.a.frozen=true"])
    (of_b,) = expect(frozen, sampled(frozen))
    alone = load_recipe({**told.model_dump(mode="json"), "name": "alone"}, ["datasets.a.dedup=false"])
    assert 0 < of_b.candidates.value < within.candidates.value
    assert expect(alone, sampled(alone))[0].candidates == pytest.approx(of_b.candidates)


def part(scale: float, signatures: np.ndarray, piece: np.ndarray) -> Sampled:
    """A sample that is known by its signatures alone."""
    text = pa.array([""] * len(piece), pa.large_string())
    compared = np.arange(len(piece))
    return Sampled(scale, 0, 0, 0, len(piece), len(piece), 0, 0, {}, 0, text, compared, signatures, piece, [])


def test_a_sample_stands_for_all_pairs_near_ones_for_fewer_than_far_ones() -> None:
    same = np.zeros((8, VALUES), np.uint32)
    parts = [part(3, same, np.repeat([0, 1], 4)), part(5, same[:2], np.zeros(2, np.int64))]
    piece, dataset = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]), np.repeat([0, 1], [8, 2])
    weights = module._weights(Signed(np.zeros((10, VALUES), np.uint32), dataset, piece), parts)
    counts = agreements(Signed(np.zeros((10, VALUES), np.uint32), dataset, piece), 2).sum(axis=3)
    pairs = (counts * weights).sum(axis=2)
    assert pairs[0, 0] == pytest.approx(24 * 23 / 2)
    assert pairs[0, 1] == pytest.approx(24 * 10)
    assert pairs[1, 1] == pytest.approx(10 * 9 / 2)  # one piece: its pairs stand for all
    assert weights[0, 0, 1] == 3  # three times as many pieces
    assert weights[0, 0, 0] > 9


def test_more_documents_than_are_compared_are_thinned_out(tmp_path, monkeypatch) -> None:
    told = recipe(tmp_path)
    monkeypatch.setattr(module, "DOCUMENTS", 24)
    chosen, kept = module._chosen(told, sampled(told))
    assert np.bincount(chosen.dataset).tolist() == [15, 10]
    assert len(kept) == len(chosen.piece) == 25
    weights = module._weights(chosen, sampled(told))
    assert (agreements(chosen, 2).sum(axis=3) * weights).sum() == pytest.approx(48 * 47 / 2)


def test_what_a_sample_does_not_hold_may_be_three_pairs_of_the_largest_weight(tmp_path) -> None:
    apart = np.arange(4 * VALUES, dtype=np.uint32).reshape(4, VALUES)
    told = recipe(tmp_path, passes=["within"])
    (within,) = expect(told, [part(10, apart, np.arange(4)), part(1, apart[:0], np.zeros(0, np.int64))])
    weight = (40 * 39 / 2) / 6
    assert within.similar == (0, 0, 0, pytest.approx(3 * weight))
    assert within.missed.limit == pytest.approx(3 * weight * (1 - chance(4)))
    assert not within.similar.seen
    assert Estimate(weight, 1, weight, 3 * weight).seen


def real(folder: Path, out: Path, *names: str) -> Recipe:
    return load_recipe(
        {
            "name": "real",
            "datasets": [
                {"name": Path(n).stem, "path": str(folder / "corpus" / n), "text": "content" if "blog" in n else "text"}
                for n in names
            ],
            "dedup": {"bands": 32, "rows": 4},
            "output": {"path": str(out)},
        }
    )


def test_a_part_of_real_data_foretells_the_whole(shared_data: Path, tmp_path: Path) -> None:
    told = real(shared_data, tmp_path, "statutes.parquet", "digitalgov", "agency-blog.parquet")
    whole, part = expect(told, sampled(told, 1e8)), expect(told, sampled(told, 4e6))
    for all_pairs, some in zip(whole, part, strict=True):
        for true, estimate in zip(all_pairs[1:], some[1:], strict=True):
            assert abs(estimate.value - true.value) < 3 * estimate.error < 5 * estimate.value
            assert estimate.in_sample < true.value
