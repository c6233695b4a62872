"""Quality on planted duplicates whose exact similarities are known."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import twins
import xxhash
from inmemory import Result, Shingle, Spec, dedup, replace

from zydaflow.dedup.bands import band_keys, probability
from zydaflow.dedup.sketch import sketch

ZYDA = Spec(bands=32, rows=4, threshold=0.4)


class Planted:
    """Three datasets (rank a, b, c), the kinds of their documents, and all pairs of Jaccard 0.05 or more."""

    def __init__(self, folder: Path) -> None:
        self.ids: dict[str, list[str]] = {}
        self.datasets: dict[str, list[str]] = {}
        for name in "abc":
            rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().split("\n") if line]
            self.ids[name] = [row["id"] for row in rows]
            self.datasets[name] = [row["text"] for row in rows]
        self.kind = {row["id"]: row["kind"] for row in read(folder / "documents.jsonl")}
        self.pairs = read(folder / "pairs.jsonl")
        self.text = {i: t for name in "abc" for i, t in zip(self.ids[name], self.datasets[name], strict=True)}
        self.sets = {i: twins.shingles(text, "word", 13) for i, text in self.text.items()}
        self.order = {}
        for name in "abc":
            for place, i in enumerate(self.ids[name]):
                self.order[i] = (name, xxhash.xxh3_128_digest(self.text[i].encode()), place)

    def lost(self, result: Result) -> dict[str, str]:
        """Each removed document's id and that of the one that stays for it."""

        def id_of(name: str) -> str:
            dataset, place = name.split("/")
            return self.ids[dataset][int(place)]

        return {id_of(gone): id_of(kept) for gone, kept in result.lost.items()}

    def best_kept(self, lost: dict[str, str]) -> dict[str, float]:
        """The highest Jaccard of each removed document to any that stays."""
        best: dict[str, float] = defaultdict(float)
        for pair in self.pairs:
            for gone, kept in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
                if gone in lost and kept not in lost:
                    best[gone] = max(best[gone], pair["jaccard13"])
        return {gone: best[gone] for gone in lost}


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@pytest.fixture(scope="module")
def planted(shared_data: Path) -> Planted:
    return Planted(shared_data / "planted")


def test_exact_verification(planted: Planted) -> None:
    lost = planted.lost(dedup(planted.datasets, replace(ZYDA, verify="exact")))
    assert len(lost) == 665
    for gone, kept in lost.items():
        assert kept not in lost
        assert planted.order[kept] < planted.order[gone]
        assert twins.jaccard(planted.sets[gone], planted.sets[kept]) >= 0.4
    for pair in planted.pairs:
        first, second = sorted((pair["a"], pair["b"]), key=planted.order.__getitem__)
        if pair["jaccard13"] >= 0.7 and first not in lost:
            assert second in lost, pair
    assert not any(planted.kind[i] == "short" for i in lost)


def test_exact_similarities_are_right(planted: Planted) -> None:
    result = dedup(planted.datasets, replace(ZYDA, verify="exact"))
    decision, ids = result.decision, [i for name in "abc" for i in planted.ids[name]]
    for gone in decision.removed:
        pair = [planted.sets[ids[result.clusters.members[i]]] for i in (gone, decision.kept[gone])]
        assert (decision.common[gone], decision.union[gone]) == (len(pair[0] & pair[1]), len(pair[0] | pair[1]))


def test_signature_verification(planted: Planted) -> None:
    lost = planted.lost(dedup(planted.datasets, ZYDA))
    best = np.array(list(planted.best_kept(lost).values()))
    assert len(lost) == 660
    assert (best < 0.4).mean() <= 0.02
    assert (best < 0.3).mean() <= 0.002
    assert not any(planted.kind[i] == "short" for i in lost)


def test_no_template_goes_at_a_higher_threshold(planted: Planted) -> None:
    lost = planted.lost(dedup(planted.datasets, replace(ZYDA, threshold=0.6, verify="exact")))
    assert len(lost) == 487
    assert not any(planted.kind[i] == "template" for i in lost)


def test_plain_components_remove_what_is_not_alike(planted: Planted) -> None:
    """The original's joint pass, which is why removals are verified here."""
    lost = planted.lost(dedup(planted.datasets, replace(ZYDA, passes=("joint",), verify="none")))
    assert len(lost) == 700
    assert min(planted.best_kept(lost).values()) < 0.1


def test_candidates_are_found_as_the_curve_says(planted: Planted) -> None:
    pairs = [pair for pair in planted.pairs if "template" not in pair["kinds"]]
    row = {i: n for n, i in enumerate(planted.text)}
    left, right = (np.array([row[pair[side]] for pair in pairs]) for side in "ab")
    similarity = np.array([pair["jaccard13"] for pair in pairs])
    texts = pa.array(list(planted.text.values()), pa.large_string())
    found = np.zeros(len(pairs))
    for seed in range(1, 6):
        keys = band_keys(sketch(texts, Shingle(), 128, seed).signatures, 32, 4)
        found += (keys[left] == keys[right]).any(axis=1) / 5
    tenth = np.minimum((similarity * 10).astype(int), 9)
    for t in range(10):
        expected = np.mean([probability(s, 32, 4) for s in similarity[tenth == t]])
        assert found[tenth == t].mean() == pytest.approx(expected, rel=0.1, abs=0.01)


def test_shards_change_nothing(planted: Planted) -> None:
    once = dedup(planted.datasets, ZYDA)
    for shards in (2, 7):
        again = dedup(planted.datasets, ZYDA, shards=shards)
        assert again.lost == once.lost
        assert again.decision.kept.tolist() == once.decision.kept.tolist()
        assert again.decision.agreement.tolist() == once.decision.agreement.tolist()
