"""The decision: which documents of a cluster stay, and for which one each of the others goes.

A document stays unless some document that precedes it in keeper order, itself stays, shares a band with it in one of
the passes and is verified similar. That has one answer, whatever the order of work.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from zydaflow.dedup.bands import band_keys
from zydaflow.dedup.clusters import components
from zydaflow.dedup.match import forest
from zydaflow.dedup.shingles import ShingleSets
from zydaflow.kernels.greedy import Check, keep_greedily
from zydaflow.kernels.jaccard import measure_pairs, measure_sets


class Rule(Protocol):
    """What the decision takes from a recipe's dedup section."""

    @property
    def threshold(self) -> float: ...  # the similarity from which a document counts as a duplicate

    @property
    def passes(self) -> Sequence[str]: ...  # within, across; or joint alone

    @property
    def verify(self) -> str: ...  # signature, exact, none

    @property
    def compare_limit(self) -> int: ...  # staying documents compared with, per band and pass


class Members(NamedTuple):
    """The m documents of c whole clusters, in the clusters' order."""

    offsets: np.ndarray  # int64 (c + 1,): the documents of each cluster
    order: np.ndarray  # int64 (m,): the documents of each cluster in keeper order, see `keeper_order`
    dataset: np.ndarray  # int32 (m,): dataset of each document
    signatures: np.ndarray  # uint32 (m, permutations)


class Decision(NamedTuple):
    """What becomes of m documents in c clusters."""

    kept: np.ndarray  # int64 (m,): the document for which each one goes, as its place among the m; −1 where it stays
    within: np.ndarray  # bool (m,): it goes for one of its own dataset
    agreement: np.ndarray  # int32 (m,): equal values of its signature and the kept one's; 0 where it stays
    bands_shared: np.ndarray  # int32 (m,): bands shared with the kept one; 0 where it stays
    common: np.ndarray | None  # int64 (m,): shingles of both; None unless verified exactly
    union: np.ndarray | None  # int64 (m,): shingles of either
    limit_met: np.ndarray  # int64 (c,): lookups (document, band, pass) that found more documents than were compared

    @property
    def removed(self) -> np.ndarray:
        """int64, ascending: the documents that go."""
        return np.flatnonzero(self.kept >= 0)

    def duplicates(self) -> np.ndarray:
        """int64 (m,): how many documents go for each one."""
        return np.bincount(self.kept[self.removed], minlength=len(self.kept))


def keeper_order(offsets: np.ndarray, dataset: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """int64 (m,): the members of each cluster from the one to keep first to the last, cluster after cluster.

    Args:
        offsets: int64 (c + 1,).
        dataset: (m,), the rank of each document's dataset.
        keys: (m,) each, what decides between equals, the most significant first. Should end with the document number.
    """
    cluster = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((*reversed(keys), dataset, cluster))


def hash_keys(text_hash: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two uint64 (m,) that sort as the 16 bytes of uint8 (m, 16) do."""
    halves = np.ascontiguousarray(text_hash).view(">u8").astype(np.uint64)
    return halves[:, 0], halves[:, 1]


def decide(members: Members, rule: Rule, bands: int, rows: int, sets: ShingleSets | None = None) -> Decision:
    """The decision for whole clusters; it does not depend on which others are decided with them.

    Memory beside the input: 8 · bands bytes per document, and for the largest cluster up to 64 · bands bytes more.

    Args:
        members: the clusters.
        rule: threshold, passes, verification, limit of comparisons.
        bands, rows: how signatures were cut for matching.
        sets: the shingles of each document; only for `verify: exact`, where it is required.

    Raises:
        ValueError: `verify` is exact and `sets` is missing.
    """
    keys = band_keys(members.signatures, bands, rows)
    kept = np.full(len(members.order), -1, np.int64)
    limit_met = np.zeros(len(members.offsets) - 1, np.int64)
    if rule.verify == "none":
        _keep_first(members, keys, kept)
    else:
        keep_greedily(
            members.order,
            members.offsets,
            members.dataset,
            keys,
            "within" in rule.passes,
            "across" in rule.passes,
            rule.compare_limit,
            _check(members.signatures, rule, sets),
            kept,
            limit_met,
        )
    return _measured(members, keys, kept, sets if rule.verify == "exact" else None, limit_met)


def least_agreement(threshold: float, permutations: int) -> int:
    """In how many values two signatures must agree, for a share of `threshold`, taken as the decimal it reads as."""
    return math.ceil(_exactly(threshold) * permutations)


def _exactly(threshold: float) -> Fraction:
    """0.4 is 2/5, not the nearest double; with denominators whose products stay below 2^63."""
    return Fraction(repr(threshold)).limit_denominator(10**9)


def _check(signatures: np.ndarray, rule: Rule, sets: ShingleSets | None) -> Check:
    exact = rule.verify == "exact"
    if exact and sets is None:
        raise ValueError("verify: exact needs the shingles of the documents")
    sets = sets or ShingleSets(np.empty(0, np.uint64), np.zeros(1, np.int64))
    numerator, denominator = _exactly(rule.threshold).as_integer_ratio()
    least = least_agreement(rule.threshold, signatures.shape[1])
    return Check(exact, signatures, least, sets.hashes, sets.offsets, numerator, denominator)


def _keep_first(members: Members, keys: np.ndarray, kept: np.ndarray) -> None:
    """Without verification: the best of each component stays, all others go for it.

    Components of documents that share a whole key: candidates were found by part of it, and nothing else checks them.
    """
    count, bands = keys.shape
    documents = np.repeat(np.arange(count, dtype=np.uint32), bands)
    linked = components([forest(keys.reshape(-1), documents, "within", members.offsets[:-1])], count)
    if not len(linked.members):
        return
    place = np.empty(count, np.int64)
    place[members.order] = np.arange(count)
    best = members.order[np.minimum.reduceat(place[linked.members], linked.offsets[:-1])]
    kept[linked.members] = np.repeat(best, np.diff(linked.offsets))
    kept[best] = -1


def _measured(
    members: Members, keys: np.ndarray, kept: np.ndarray, sets: ShingleSets | None, limit_met: np.ndarray
) -> Decision:
    """The decision with the similarity of every pair that it names."""
    agreement = np.zeros(len(kept), np.int32)
    bands_shared = np.zeros(len(kept), np.int32)
    measure_pairs(members.signatures, kept, agreement)
    measure_pairs(keys, kept, bands_shared)
    within = (kept >= 0) & (members.dataset == members.dataset[kept])
    common = union = None
    if sets is not None:
        common, union = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.int64)
        measure_sets(sets.hashes, sets.offsets, kept, common, union)
    return Decision(kept, within, agreement, bands_shared, common, union, limit_met)
