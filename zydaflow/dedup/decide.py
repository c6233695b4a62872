"""The decision: which documents of a cluster stay, and for which one each of the others goes.

A document stays unless some document that precedes it in keeper order, itself stays, and has an equal exact value, or
shares a band with it in one of the passes and is verified similar. That has one answer, whatever the order of work.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from zydaflow.dedup.roles import Roles
from zydaflow.dedup.shingles import ShingleSets
from zydaflow.kernels.buckets import Keys, Room, table_size
from zydaflow.kernels.check import DOUBTFUL, LIMIT_MET, Check
from zydaflow.kernels.greedy import Powers, keep_greedily
from zydaflow.kernels.jaccard import measure_pairs, measure_sets
from zydaflow.kernels.joint import keep_first

Allocate = Callable[[tuple[int, ...], type[np.generic]], np.ndarray]


class Rule(Protocol):
    """What the decision takes from a recipe's dedup section."""

    @property
    def threshold(self) -> float: ...  # the similarity from which a document counts as a duplicate

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
    exact: np.ndarray  # uint64 (m, e, 2): 128-bit hashes of the values that make equals, 0 where there is none


class Decision(NamedTuple):
    """What becomes of m documents in c clusters."""

    kept: np.ndarray  # int64 (m,): the document for which each one goes, as its place among the m; −1 where it stays
    outcome: np.ndarray  # uint8 (m,): STAYS, EXACT, WITHIN or ACROSS
    agreement: np.ndarray  # int32 (m,): equal values of its signature and the kept one's; 0 where it stays
    bands_shared: np.ndarray  # int32 (m,): bands shared with the kept one; 0 where it stays
    common: np.ndarray | None  # int64 (m,): shingles of both; None unless verified exactly
    union: np.ndarray | None  # int64 (m,): shingles of either
    limit_met: np.ndarray  # int64 (c,): lookups (document, band, pass) that found more documents than were compared
    doubtful: np.ndarray  # int64 (c,): comparisons of signatures within three standard errors of the threshold
    matched: np.ndarray  # bool (m, d): whether a document of that dataset is alike and shares a band, whoever stays

    @property
    def removed(self) -> np.ndarray:
        """int64, ascending: the documents that go."""
        return np.flatnonzero(self.kept >= 0)

    def duplicates(self) -> np.ndarray:
        """int64 (m,): how many documents go for each one."""
        return np.bincount(self.kept[self.removed], minlength=len(self.kept))


def keeper_order(offsets: np.ndarray, precedence: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """int64 (m,): the members of each cluster from the one to keep first to the last, cluster after cluster.

    Args:
        offsets: int64 (c + 1,).
        precedence: (m,), the place of each document's dataset in keeper order.
        keys: (m,) each, what decides between equals, the most significant first. Should end with the document number.
    """
    cluster = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    datasets = int(precedence.max(initial=0)) + 1
    return np.lexsort((*reversed(keys), cluster * datasets + precedence))


def hash_keys(text_hash: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two uint64 (m,) that sort as the 16 bytes of uint8 (m, 16) do."""
    halves = np.ascontiguousarray(text_hash).view(">u8").astype(np.uint64)
    return halves[:, 0], halves[:, 1]


def decide(
    members: Members,
    rule: Rule,
    roles: Roles,
    bands: int,
    rows: int,
    sets: ShingleSets | None = None,
    empty: Allocate = np.empty,
) -> Decision:
    """The decision for whole clusters; it does not depend on which others are decided with them.

    Memory beside the input: 20 bytes per document, and for the largest cluster 32 · (bands + e) and 20 more.

    Args:
        members: the clusters.
        rule: threshold, verification, limit of comparisons.
        roles: what may happen to the documents of each dataset.
        bands, rows: how signatures were cut for matching.
        sets: the shingles of each document; only for `verify: exact`, where it is required.
        empty: what makes the larger arrays.

    Raises:
        ValueError: `verify` is exact and `sets` is missing.
    """
    keys = Keys(members.signatures, bands, rows, members.exact)
    powers = Powers(roles.within, roles.across, roles.loses, roles.to_others, roles.is_index)
    largest = int(np.diff(members.offsets).max(initial=0))
    room = _room(largest, bands + members.exact.shape[1], empty)
    kept, outcome = np.empty(len(members.order), np.int64), np.empty(len(members.order), np.uint8)
    counts = np.zeros((len(members.offsets) - 1, 2), np.int64)
    matched = np.zeros((len(members.order), len(roles.is_index)), bool)
    clusters = (members.order, members.offsets, members.dataset, keys)
    if rule.verify == "none":
        keep_first(*clusters, powers, room, np.empty(largest, np.uint32), kept, outcome)
    else:
        check, seen = _check(members.signatures.shape[1], rule, sets), np.empty(largest, np.int32)
        limit = rule.compare_limit
        keep_greedily(*clusters, powers, limit, check, room, seen, kept, outcome, counts, matched)
    agreement, shared = np.zeros(len(kept), np.int32), np.zeros(len(kept), np.int32)
    measure_pairs(members.signatures, kept, bands, rows, agreement, shared)
    common, union = _overlap(sets, kept) if sets is not None and rule.verify == "exact" else (None, None)
    limit_met, doubtful = counts[:, LIMIT_MET], counts[:, DOUBTFUL]
    return Decision(kept, outcome, agreement, shared, common, union, limit_met, doubtful, matched)


def least_agreement(threshold: float, permutations: int) -> int:
    """In how many values two signatures must agree, for a share of `threshold`, taken as the decimal it reads as."""
    return math.ceil(_exactly(threshold) * permutations)


def _exactly(threshold: float) -> Fraction:
    """0.4 is 2/5, not the nearest double; with denominators whose products stay below 2^63."""
    return Fraction(repr(threshold)).limit_denominator(10**9)


def _room(largest: int, columns: int, empty: Allocate) -> Room:
    keys = largest * columns
    return Room(
        empty((keys,), np.uint64),
        empty((table_size(largest),), np.int32),
        empty((keys,), np.int32),
        empty((keys // 2, 6), np.int32),
        empty((keys, 2), np.int32),
    )


def _check(permutations: int, rule: Rule, sets: ShingleSets | None) -> Check:
    exact = rule.verify == "exact"
    if exact and sets is None:
        raise ValueError("verify: exact needs the shingles of the documents")
    sets = sets or ShingleSets(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    numerator, denominator = _exactly(rule.threshold).as_integer_ratio()
    doubt = math.ceil(3 * math.sqrt(rule.threshold * (1 - rule.threshold) * permutations))  # of a binomial count
    least = least_agreement(rule.threshold, permutations)
    return Check(exact, least, doubt, sets.hashes, sets.starts, sets.stops, numerator, denominator)


def _overlap(sets: ShingleSets, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shingles of both and of either, for every document and its kept one."""
    common, union = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.int64)
    measure_sets(sets.hashes, sets.starts, sets.stops, kept, common, union)
    return common, union
