"""From texts to survivors: against every pair of documents compared, and what users of this field have met."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import twins
import xxhash
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import Result, Shingle, Spec, dedup, replace

from zydaflow.dedup.bands import band_keys, by_key_range, probability
from zydaflow.dedup.clusters import components
from zydaflow.dedup.decide import Members, decide
from zydaflow.dedup.match import Block, forest
from zydaflow.dedup.roles import roles
from zydaflow.dedup.shingles import shingle_hash32
from zydaflow.kernels.greedy import WITHIN

SMALL = Spec(Shingle("word", 2), permutations=16, threshold=0.5, bands=8, rows=2, compare_limit=2)


def digest(text: str) -> bytes:
    return xxhash.xxh3_128_digest(text.encode())


def brute_force(datasets: dict[str, list[str]], spec: Spec) -> dict[str, str]:
    """Who goes for whom, with datasketch and all pairs of all documents."""
    names, texts, ranks = [], [], []
    for rank, (name, part) in enumerate(datasets.items()):
        names += [f"{name}/{place}" for place in range(len(part))]
        texts += part
        ranks += [rank] * len(part)
    sets = [twins.shingles(text, spec.shingle.unit, spec.shingle.size) for text in texts]
    rows = []
    for shingles in sets:
        minhash = MinHash(spec.permutations, 1, scheme="affine32", hashfunc=shingle_hash32)
        minhash.update_batch([s.encode() for s in shingles])
        rows.append(minhash.hashvalues.tolist())

    def bands(i: int) -> list[tuple]:
        return [tuple(rows[i][b * spec.rows : (b + 1) * spec.rows]) for b in range(spec.bands)]

    def alike(i: int, j: int) -> bool:
        if spec.verify == "exact":
            return twins.jaccard(sets[i], sets[j]) >= spec.threshold
        return sum(a == b for a, b in zip(rows[i], rows[j], strict=True)) >= spec.threshold * spec.permutations

    comparable = [i for i in range(len(texts)) if sets[i]]
    order = sorted(comparable, key=lambda i: (ranks[i], digest(texts[i]), i))
    gone, _ = twins.decide(order, ranks, bands, alike, twins.never, twins.passes(spec.passes), spec.compare_limit)
    return {names[i]: names[kept] for i, (kept, _) in gone.items()}


SENTENCES = st.lists(st.sampled_from(["to", "be", "or", "NOT", "not!"]), max_size=7).map(" ".join)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.lists(SENTENCES, max_size=5), min_size=1, max_size=3),
    st.sampled_from([("within",), ("across",), ("within", "across")]),
    st.sampled_from(["signature", "exact"]),
    st.integers(1, 4),
)
def test_survivors_are_those_of_brute_force(parts: list[list[str]], passes, verify: str, shards: int) -> None:
    datasets = {f"d{i}": part for i, part in enumerate(parts)}
    spec = replace(SMALL, passes=passes, verify=verify)
    assert dedup(datasets, spec, shards=shards).lost == brute_force(datasets, spec)


def prose(rng: np.random.Generator, n: int) -> list[str]:
    return [f"w{k}" for k in rng.integers(0, 10**9, n)]


def assert_justified(result: Result, datasets: dict[str, list[str]], least: float) -> None:
    """Every removed document is as alike as that to a document that stays."""
    for gone, kept in result.lost.items():
        assert kept in result.survivors
        sets = []
        for name in (gone, kept):
            dataset, place = name.split("/")
            sets.append(twins.shingles(datasets[dataset][int(place)], "word", 13))
        assert twins.jaccard(*sets) >= least


def test_texts_shorter_than_a_shingle_and_without_words() -> None:
    texts = ["cat", "dog", "cat", "", "  ", "a b c d"]
    result = dedup({"a": texts}, Spec(Shingle("word", 5)))
    assert result.lost == {"a/2": "a/0"}
    assert (result.n_words == 0).sum() == 2


def test_twenty_short_texts_that_differ() -> None:
    texts = [f"only {i} here" for i in range(20)] + ["!!!", "...", "\u200b"]
    assert dedup({"a": texts}, Spec()).lost == {}


@pytest.mark.parametrize("shards", [2, 7])
def test_the_same_document_in_two_shards(shards: int) -> None:
    text = " ".join(prose(np.random.default_rng(1), 60))
    others = [" ".join(prose(np.random.default_rng(i), 60)) for i in range(2, 14)]
    datasets = {"a": [text, *others, text]}
    result = dedup(datasets, Spec(), shards=shards)
    assert result.lost == dedup(datasets, Spec()).lost == {"a/13": "a/0"}


def test_the_hash_seed_of_python_changes_nothing() -> None:
    code = (
        "import numpy as np; from inmemory import Spec, dedup; from test_dedup_end_to_end import near_copies;"
        "print(sorted(dedup(near_copies(), Spec(), shards=3).lost.items()))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1] == f"{sorted(dedup(near_copies(), Spec()).lost.items())}\n"


def near_copies() -> dict[str, list[str]]:
    """Ten families of three near-copies in each of two datasets."""
    rng = np.random.default_rng(4)
    datasets: dict[str, list[str]] = {"a": [], "b": []}
    for _ in range(10):
        words = prose(rng, 200)
        for place in range(6):
            copy = [*words]
            copy[int(rng.integers(200))] = "other"
            datasets["ab"[place % 2]].append(" ".join(copy))
    return datasets


def test_a_chain_of_neighbours() -> None:
    words = prose(np.random.default_rng(7), 2212)
    datasets = {"a": [" ".join(words[10 * i : 10 * i + 212]) for i in range(200)]}  # Jaccard of neighbours 190 / 210
    result = dedup(datasets, Spec(verify="exact", threshold=0.8))
    assert_justified(result, datasets, 0.8)
    assert 0 < len(result.lost) < 199
    assert result.clusters.members.tolist() == list(range(200)), "the chain is one cluster, which is reported"
    assert result.clusters.offsets.tolist() == [0, 200]


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_five_hundred_texts_behind_one_template(threshold: float) -> None:
    rng = np.random.default_rng(8)
    template = " ".join(prose(rng, 140))
    datasets = {"a": [f"{template} {' '.join(prose(rng, 60))}" for _ in range(500)]}  # Jaccard 128 / 248
    result = dedup(datasets, Spec(verify="exact", threshold=threshold, bands=32, rows=4))
    assert_justified(result, datasets, threshold)
    assert (len(result.lost) > 0) == (threshold == 0.5)
    assert np.diff(result.clusters.offsets).max() > 450


@pytest.mark.parametrize("jaccard", [0.5, 0.6, 0.7, 0.79, 0.81, 0.9])
def test_pairs_around_the_threshold(jaccard: float) -> None:
    """Missed and wrongly removed pairs are as many as the bands and the binomial spread of a signature make them."""
    rng = np.random.default_rng(9)
    shared = round(2 * 500 * jaccard / (1 + jaccard))  # of 500 shingles each: shared / (1000 - shared) = jaccard
    a, b = [], []
    for _ in range(300):
        common = prose(rng, shared)
        a.append(" ".join(common + prose(rng, 500 - shared)))
        b.append(" ".join(common + prose(rng, 500 - shared)))
    spec = Spec(Shingle("word", 1), threshold=0.8, passes=("across",))
    share = {
        v: len(dedup({"a": a, "b": b}, replace(spec, verify=v), shards=s).lost) / 300
        for v, s in [("signature", 1), ("exact", 3)]
    }
    found = probability(jaccard, 14, 9)
    tolerance = 4 * np.sqrt(found * (1 - found) / 300) + 0.01
    if jaccard >= 0.8:
        assert share["exact"] == pytest.approx(found, abs=tolerance)
    else:
        assert share["exact"] == 0
    # Agreement is binomial (128 values, jaccard each); 103 of them reach the threshold.
    draws = rng.binomial(128, jaccard, 100_000) >= 103
    assert share["signature"] <= min(found, draws.mean()) + tolerance
    if jaccard == 0.9:
        assert share["signature"] >= 0.99


def test_only_across_leaves_copies_inside_a_dataset() -> None:
    rng = np.random.default_rng(10)
    both, twice, own = (" ".join(prose(rng, 80)) for _ in range(3))
    datasets = {"b": [both, twice, twice], "a": [own, both, both, twice]}
    result = dedup(datasets, Spec(passes=("across",)))
    assert result.lost == {"a/1": "b/0", "a/2": "b/0", "a/3": "b/1"}
    assert not (result.decision.outcome == WITHIN).any()
    assert (result.decision.agreement[result.decision.removed] == 128).all()
    within = dedup(datasets, Spec(passes=("within",)))
    assert set(within.lost) == {"b/2", "a/2"}
    assert (within.decision.outcome[within.decision.removed] == WITHIN).all()


def test_within_justifies_before_across() -> None:
    """The middle one of three is alike to a document of a better dataset, and to one of its own that stays."""
    spec = Spec(Shingle("word", 1), threshold=0.5, verify="exact", bands=64, rows=2)
    for seed in range(8):
        words = prose(np.random.default_rng(seed), 300)
        first, middle, last = (" ".join(words[i : i + 200]) for i in (0, 50, 100))
        result = dedup({"a": [first], "b": [middle, last]}, spec)
        own_stays = digest(last) < digest(middle)  # it comes first, so it is there
        assert result.lost == {"b/0": "b/1" if own_stays else "a/0"}
        assert (result.decision.outcome == WITHIN).tolist() == [False, own_stays, False]


@pytest.mark.parametrize(
    ("ranks", "lost"), [("abc", {"b/0": "a/0"}), ("bac", {"a/0": "b/0", "c/0": "b/0"}), ("acb", {"b/0": "a/0"})]
)
def test_alike_to_the_middle_only(ranks: str, lost: dict[str, str]) -> None:
    """A ~ B and B ~ C but not A ~ C: what goes follows from rank and verification."""
    words = prose(np.random.default_rng(12), 300)
    texts = {"a": words[:200], "b": words[50:250], "c": words[100:300]}
    spec = Spec(Shingle("word", 1), threshold=0.5, verify="exact", bands=64, rows=2)
    datasets = {name: [" ".join(texts[name])] for name in ranks}
    assert dedup(datasets, spec).lost == lost


def hot_bucket(signatures: np.ndarray, limit: int):
    """The decision over documents of one band each that all share it, or everything, with the time that it took."""
    n = len(signatures)
    started = time.perf_counter()
    keys = by_key_range(band_keys(signatures[:, :4], 1, 4))
    (edges,) = forest([Block(keys.packed, 0)], "all", np.zeros(1), 10**9, np.empty)
    clusters = components([edges.documents], n)
    exact = np.zeros((n, 0, 2), np.uint64)
    members = Members(clusters.offsets, np.arange(n), np.zeros(n, np.int32), signatures, exact)
    decision = decide(members, Spec(compare_limit=limit), roles([False], ("within", "across")), 32, 4)
    return decision, len(edges.documents), time.perf_counter() - started


def test_a_bucket_of_100_000_identical_documents() -> None:
    signatures = np.tile(np.random.default_rng(13).integers(0, 2**32, 128, dtype=np.uint32), (100_000, 1))
    decision, edges, seconds = hot_bucket(signatures, 64)
    assert edges == 99_999
    assert decision.kept.tolist() == [-1] + [0] * 99_999
    assert decision.limit_met.tolist() == [0]
    assert seconds < 15, "comparing all pairs would take minutes"


def test_a_bucket_of_100_000_different_documents() -> None:
    signatures = np.random.default_rng(14).integers(0, 2**32, (100_000, 128), dtype=np.uint32)
    signatures[:, :4] = 7
    decision, edges, seconds = hot_bucket(signatures, 64)
    assert edges == 99_999
    assert len(decision.removed) == 0
    assert decision.limit_met.tolist() == [100_000 - 65]
    assert seconds < 15, "comparing all pairs would take minutes"
