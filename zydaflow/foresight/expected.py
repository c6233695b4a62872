"""From the pairs of a sample to those of the whole input: how many are similar, and what the bands make of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from zydaflow.dedup.decide import least_agreement
from zydaflow.dedup.pairs import Signed, agreements, alike_by_texts, by_piece, chances
from zydaflow.foresight.sample import Sampled
from zydaflow.recipe import DedupSpec, Recipe
from zydaflow.stages.decide import roles_of
from zydaflow.stages.match import split

DOCUMENTS = 30_000  # whose pairs are all compared: 5 seconds
NONE_SEEN = 3  # the rule of three: of what was never met, no more than 3 were to be expected, with 95 % confidence


class Estimate(NamedTuple):
    """An expected number of pairs."""

    value: float
    in_sample: float  # how many of them are to be expected among the sample's own
    error: float  # the standard error of `value`
    limit: float  # what `value` may be where the sample holds none

    @property
    def seen(self) -> bool:
        """Whether the sample holds at least as much as one pair of the kind that counts most."""
        return 0 < self.limit <= NONE_SEEN * self.value


class Expected(NamedTuple):
    """What a pass of the recipe is expected to meet."""

    link: str  # within, across or joint
    similar: Estimate  # pairs that are similar as the recipe verifies it
    missed: Estimate  # … that share no band
    candidates: Estimate  # pairs that share a band
    false: Estimate  # … that are not similar


def expect(recipe: Recipe, sampled: Sequence[Sampled]) -> list[Expected]:
    """The passes of the recipe, in its order."""
    spec = recipe.dedup
    assert spec is not None
    if not spec.passes:
        return []
    documents, texts = _chosen(recipe, sampled)
    counts = agreements(documents, len(sampled))
    weights = _weights(documents, sampled)
    chance = chances(*split(spec), spec.permutations)
    passes = _passes(recipe)
    alike = [_alike(spec, documents, texts, wanted, counts[wanted].sum(axis=(0, 1))) for wanted in passes.values()]
    shares = np.array([[share, share * (1 - chance), chance, (1 - share) * chance] for share in alike])
    unsure = _unsure(weights)
    sums = by_piece(documents, unsure, shares, list(passes.values()))
    return [
        Expected(link, *_estimates(counts[wanted], weights[wanted], unsure[wanted], shares[number], sums[number]))
        for number, (link, wanted) in enumerate(passes.items())
    ]


def _chosen(recipe: Recipe, sampled: Sequence[Sampled]) -> tuple[Signed, pa.LargeStringArray]:
    """Up to `DOCUMENTS` documents with words of the datasets that take part, shared out by what was sampled."""
    takes_part = [dataset.dedup for dataset in recipe.datasets]
    total = sum(len(s.piece) for s, takes in zip(sampled, takes_part, strict=True) if takes)
    share = min(1.0, DOCUMENTS / max(total, 1))
    signatures, dataset, piece, texts, first = [], [], [], [], 0
    for number, (sample, takes) in enumerate(zip(sampled, takes_part, strict=True)):
        rank = np.random.default_rng(recipe.seed).permutation(int(sample.piece.max(initial=0)) + 1)
        count = int(np.ceil(share * len(sample.piece))) if takes else 0
        rows = np.argsort(rank[sample.piece], kind="stable")[:count]
        signatures.append(sample.signatures[rows])
        dataset.append(np.full(count, number, np.int64))
        piece.append(sample.piece[rows] + first)
        first += int(sample.piece.max(initial=0)) + 1
        texts.append(sample.text.take(pa.array(sample.compared[rows])))
    return Signed(np.concatenate(signatures), np.concatenate(dataset), np.concatenate(piece)), pa.concat_arrays(texts)


def _weights(documents: Signed, sampled: Sequence[Sampled]) -> np.ndarray:
    """float64 (datasets, datasets, 2): for how many pairs of the whole input one of the sample stands.

    Two documents of one piece came into the sample together, so there are only `scale` times as many such pairs; two
    of different pieces by two choices, so there are all the others.
    """
    used = np.bincount(documents.dataset, minlength=len(sampled))
    whole = np.array([sample.scale * len(sample.piece) for sample in sampled])
    each = np.divide(whole, used, out=np.zeros(len(sampled)), where=used > 0)
    weights = np.repeat(np.outer(each, each)[:, :, np.newaxis], 2, axis=2)
    for k, sample in enumerate(sampled):
        pairs, near = _pairs(used[k]), _near(documents.piece[documents.dataset == k])
        all_pairs, all_near = _pairs(whole[k]), sample.scale * _near(sample.piece)
        if pairs > near > 0:
            weights[k, k] = (all_pairs - all_near) / (pairs - near), all_near / near
        elif pairs:  # one piece, or none with two documents: nothing tells near from far
            weights[k, k] = all_pairs / pairs
        else:
            weights[k, k] = 0
    return weights


def _unsure(weights: np.ndarray) -> np.ndarray:
    """The weights with which pairs count for the error: less by √(1 − f) where the share f of the pieces was read."""
    far, near = np.maximum(weights[..., 0], 1), np.maximum(weights[..., 1], 1)
    return weights * np.sqrt(1 - np.stack([1 / np.sqrt(far), 1 / near], axis=-1))


def _pairs(count: float) -> float:
    return count * (count - 1) / 2


def _near(piece: np.ndarray) -> float:
    """Pairs of one piece."""
    return float(sum(_pairs(count) for count in np.bincount(piece).tolist()))


def _passes(recipe: Recipe) -> dict[str, np.ndarray]:
    """Each pass, and for which pairs of datasets it may remove a document: bool (datasets, datasets)."""
    assert recipe.dedup is not None
    parts = np.array([dataset.dedup for dataset in recipe.datasets])
    both, same, roles = np.outer(parts, parts), np.eye(len(parts), dtype=bool), roles_of(recipe)
    within, across = roles.within[: len(parts)], roles.across[: len(parts)]
    wanted = {
        "within": both & same & within,
        "across": both & ~same & (across[:, np.newaxis] | across),
        "joint": both,
    }
    return {link: wanted[link] for link in recipe.dedup.passes}


def _alike(
    spec: DedupSpec, documents: Signed, texts: pa.LargeStringArray, wanted: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    """float64 (permutations + 1,): the share of similar ones among the wanted pairs that agree in so many places."""
    if spec.verify == "exact":
        return alike_by_texts(documents, texts, wanted, seen, spec.threshold, spec.shingle)
    return (np.arange(spec.permutations + 1) >= least_agreement(spec.threshold, spec.permutations)).astype(float)


def _estimates(
    counts: np.ndarray, weights: np.ndarray, unsure: np.ndarray, shares: np.ndarray, sums: np.ndarray
) -> Iterator[Estimate]:
    """For each of q shares the sum over pairs of weight × share, and how sure it is.

    Pieces are what chance brought into the sample: the variance is the sum over pieces of the square of all pairs that
    each has a part in, less once the square of each pair that two have.

    Args:
        counts: int64 (m, 2, permutations + 1), pairs of m pairs of datasets: far or near, and by agreement.
        weights: float64 (m, 2).
        unsure: float64 (m, 2), of `_unsure`.
        shares: float64 (q, permutations + 1).
        sums: float64 (pieces, q), of `by_piece` with the weights `unsure`.
    """
    for q, share in enumerate(shares):
        value = float(np.einsum("ms,msa,a", weights, counts, share))
        twice = float(np.einsum("m,ma,a", unsure[:, 0] ** 2, counts[:, 0], share**2))
        variance = max(float((sums[:, q] ** 2).sum()) - twice, 0)
        limit = NONE_SEEN * float(weights.max(initial=0) * share.max())
        yield Estimate(value, float((counts @ share).sum()), variance**0.5, limit)
