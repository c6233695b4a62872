"""The decision against its sentence, read out slowly over every pair of documents."""

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import Spec

from zydaflow.dedup.decide import Members, decide, hash_keys, keeper_order, least_agreement
from zydaflow.dedup.roles import Roles, roles
from zydaflow.dedup.shingles import ShingleSets
from zydaflow.kernels.matches import FIRST

BANDS, ROWS, PERMUTATIONS = 3, 2, 7
WAYS = ("stays", "exact", "within", "across")


@st.composite
def universes(draw: st.DrawFn) -> tuple[Members, Roles, ShingleSets, list[bytes]]:
    """A few clusters of documents with few values, so that they share bands, and with small sets of shingles."""
    sizes = draw(st.lists(st.integers(2, 9), max_size=3))
    m = sum(sizes)
    values = draw(st.lists(st.lists(st.integers(0, 1), min_size=7, max_size=7), min_size=m, max_size=m))
    sets = draw(st.lists(st.sets(st.integers(0, 6)), min_size=m, max_size=m))
    dataset = draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    exact = draw(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=m, max_size=m))
    hashes = draw(
        st.lists(st.sampled_from([b"\0" * 16, b"\xff" + b"\0" * 15, b"\0" * 15 + b"\x01"]), min_size=m, max_size=m)
    )
    who = draw(roles_of_three())
    offsets = np.cumsum([0, *sizes])
    text_hash = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 16)
    ranks = np.array(dataset, np.int32)
    order = keeper_order(offsets, who.precedence[ranks], *hash_keys(text_hash), np.arange(m))
    signatures = np.array(values, np.uint32).reshape(m, PERMUTATIONS)
    halves = np.array([[[v // 3 * 7, v % 3] for v in row] for row in exact], np.uint64).reshape(m, 2, 2)
    if draw(st.booleans()):
        halves = halves[:, :0].copy()
    flat = np.array([value for s in sets for value in sorted(s)], np.uint64)
    bounds = np.cumsum([0, *map(len, sets)])
    return Members(offsets, order, ranks, signatures, halves), who, ShingleSets(flat, bounds[:-1], bounds[1:]), hashes


@st.composite
def roles_of_three(draw: st.DrawFn) -> Roles:
    """Of three datasets, some of which may be frozen, alone in losing to others, or indexes."""
    indexes = draw(st.integers(0, 1))
    flags = st.lists(st.booleans(), min_size=3 - indexes, max_size=3 - indexes)
    frozen = draw(st.one_of(st.just([False] * (3 - indexes)), flags))
    passes = draw(st.sampled_from([(), ("within",), ("across",), ("within", "across")]))
    return roles(frozen, passes, draw(st.one_of(st.none(), flags)), indexes)


def cluster_lists(members: Members) -> list[list[int]]:
    return [list(range(a, b)) for a, b in zip(members.offsets, members.offsets[1:], strict=False)]


def set_of(sets: ShingleSets, i: int) -> set[int]:
    return set(sets.hashes[sets.starts[i] : sets.stops[i]].tolist())


@settings(derandomize=True, max_examples=600, deadline=None)
@given(
    universes(),
    st.sampled_from(["signature", "exact"]),
    st.sampled_from([0.3, 0.4, 0.5, 0.6, 5 / 7, 1.0]),
    st.integers(1, 3),
)
def test_the_decision_is_its_sentence(universe, verify, threshold, limit) -> None:
    members, who, sets, hashes = universe
    spec = Spec(verify=verify, threshold=threshold, compare_limit=limit)
    decision = decide(members, spec, who, BANDS, ROWS, sets if verify == "exact" else None)
    rows = members.signatures.tolist()
    powers = {
        "index": who.is_index, "at all": who.loses, "to_others": who.to_others,
        "within": who.within, "across": who.across,
    }  # fmt: skip

    def may(what: str, dataset: int) -> bool:
        return bool(powers[what][dataset])

    def bands(i: int) -> list[tuple[int, ...]]:
        return [tuple(rows[i][b * ROWS : (b + 1) * ROWS]) for b in range(BANDS)]

    def alike(i: int, j: int) -> bool:
        if verify == "signature":
            return sum(a == b for a, b in zip(rows[i], rows[j], strict=True)) >= threshold * PERMUTATIONS - 1e-9
        left, right = set_of(sets, i), set_of(sets, j)
        return len(left & right) >= threshold * len(left | right) - 1e-9

    def exact(i: int) -> list[tuple[int, int] | None]:
        return [tuple(value) if value[0] else None for value in members.exact[i].tolist()]

    def equal(i: int, j: int) -> bool:
        return any(a == b and a is not None for a, b in zip(exact(i), exact(j), strict=True))

    columns = [(lambda i, b=b: bands(i)[b], alike) for b in range(BANDS)]
    columns += [
        (lambda i, c=c: exact(i)[c] and exact(i)[c][0], lambda i, j, c=c: exact(i)[c] == exact(j)[c])
        for c in range(members.exact.shape[1])
    ]
    matched = set()
    for number, cluster in enumerate(cluster_lists(members)):
        order = sorted(cluster, key=lambda i: (who.precedence[members.dataset[i]], hashes[i], i))
        gone, limit_met = twins.decide(order, members.dataset, bands, alike, equal, may, limit)
        told = {i: (int(decision.kept[i]), WAYS[decision.outcome[i]]) for i in cluster if decision.kept[i] >= 0}
        assert told == gone
        assert decision.limit_met[number] == limit_met
        matched |= twins.matches(order, members.dataset, columns, gone, FIRST)
    assert {(int(i), int(d)) for i, d in zip(*np.nonzero(decision.matched), strict=True)} == matched
    check_measures(members, sets if verify == "exact" else None, decision, bands)


def check_measures(members: Members, sets: ShingleSets | None, decision, bands) -> None:
    """Everything that is said of a removed pair."""
    rows = members.signatures.tolist()
    for i, kept in enumerate(decision.kept.tolist()):
        if kept < 0:
            assert (decision.agreement[i], decision.bands_shared[i], decision.outcome[i]) == (0, 0, 0)
            continue
        assert decision.kept[kept] == -1
        if WAYS[decision.outcome[i]] != "exact":
            same = members.dataset[i] == members.dataset[kept]
            assert WAYS[decision.outcome[i]] == ("within" if same else "across")
        assert decision.agreement[i] == sum(a == b for a, b in zip(rows[i], rows[kept], strict=True))
        assert decision.bands_shared[i] == sum(a == b for a, b in zip(bands(i), bands(kept), strict=True))
        if sets is not None:
            left, right = set_of(sets, i), set_of(sets, kept)
            assert (decision.common[i], decision.union[i]) == (len(left & right), len(left | right))
    assert (decision.common is None) == (sets is None)
    assert decision.removed.tolist() == [i for i, kept in enumerate(decision.kept.tolist()) if kept >= 0]
    assert decision.duplicates().tolist() == [decision.kept.tolist().count(i) for i in range(len(rows))]


@settings(derandomize=True, max_examples=50, deadline=None)
@given(universes())
def test_without_verification_the_best_of_each_component_stays(universe) -> None:
    """Components of documents that share a band: a cluster may hold others, which a chance match brought there."""
    members, who, _, _ = universe
    decision = decide(members._replace(exact=members.exact[:, :0].copy()), Spec(verify="none"), who, BANDS, ROWS)
    rows, place = members.signatures.tolist(), {int(i): at for at, i in enumerate(members.order)}
    expected = [-1] * len(rows)
    for cluster in cluster_lists(members):
        left = set(cluster)
        while left:
            component, found = set(), {left.pop()}
            while found:
                component |= found
                found = {i for i in left if any(share_a_band(rows[i], rows[j]) for j in component)}
                left -= found
            best = min(component, key=place.__getitem__)
            for i in component - {best}:
                expected[i] = best if who.loses[members.dataset[i]] else -1
    assert decision.kept.tolist() == expected


def share_a_band(one: list[int], other: list[int]) -> bool:
    return any(one[b * ROWS : (b + 1) * ROWS] == other[b * ROWS : (b + 1) * ROWS] for b in range(BANDS))


@settings(derandomize=True, max_examples=50, deadline=None)
@given(universes())
def test_a_cluster_is_decided_the_same_alone(universe) -> None:
    members, who, _, _ = universe
    together = decide(members, Spec(threshold=0.5), who, BANDS, ROWS)
    for start, stop in zip(members.offsets, members.offsets[1:], strict=False):
        own = slice(start, stop)
        offsets = np.array([0, stop - start])
        parts = (members.order[own] - start, members.dataset[own], members.signatures[own], members.exact[own])
        alone = decide(Members(offsets, *parts), Spec(threshold=0.5), who, BANDS, ROWS)
        moved = np.where(alone.kept >= 0, alone.kept + start, -1)
        assert moved.tolist() == together.kept[own].tolist()


def test_the_order_is_rank_then_keys_then_number() -> None:
    offsets = np.array([0, 2, 6])
    dataset = np.array([1, 0, 2, 0, 0, 0])
    hashes = np.zeros((6, 16), np.uint8)
    hashes[3, 0], hashes[4, 15] = 200, 200  # bytewise: the fourth after the fifth
    assert keeper_order(offsets, dataset, *hash_keys(hashes), np.arange(6)).tolist() == [1, 0, 5, 4, 3, 2]
    quality = np.array([0, 0, 0, 3, 1, 2])
    assert keeper_order(offsets, dataset, -quality, np.arange(6)).tolist() == [1, 0, 3, 5, 4, 2]


@pytest.mark.parametrize(
    ("threshold", "permutations", "least"),
    [(0.4, 128, 52), (0.5, 128, 64), (0.8, 100, 80), (0.7, 10, 7), (0.29, 100, 29), (0.1, 30, 3), (1.0, 128, 128)],
)
def test_the_threshold_is_a_decimal_not_a_double(threshold: float, permutations: int, least: int) -> None:
    assert least_agreement(threshold, permutations) == least


def test_exact_verification_needs_the_sets() -> None:
    nobody = np.zeros((2, 0, 2), np.uint64)
    members = Members(np.array([0, 2]), np.arange(2), np.zeros(2, np.int32), np.zeros((2, 7), np.uint32), nobody)
    with pytest.raises(ValueError, match="needs the shingles"):
        decide(members, Spec(verify="exact"), roles([False], ("within",)), BANDS, ROWS)
