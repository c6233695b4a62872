"""How good a classifier is on documents whose labels are known."""

import math
from typing import NamedTuple

import numpy as np

BINS = 10  # of the probability, for calibration
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5)  # that one may wish to keep


class Cut(NamedTuple):
    """A rule `min: threshold`, and what it does to the documents."""

    threshold: float
    keeps: float  # the share of all documents
    precision: float  # the share of good ones among those kept; 0 where none is
    recall: float  # the share of the good ones that are kept


class Bin(NamedTuple):
    """The documents whose score is in [low, low + 1 / BINS), the last bin with its end."""

    low: float
    documents: int
    score: float  # their mean
    good: float  # the share of good ones


class Evaluation(NamedTuple):
    """Of n documents."""

    good: int
    bad: int
    half: Cut  # at a threshold of 0.5
    wished: Cut  # at the threshold for the wished share
    shares: tuple[Cut, ...]  # at those for `SHARES`
    calibration: tuple[Bin, ...]  # bins with documents

    @property
    def calibration_error(self) -> float:
        """The expected calibration error (Naeini et al., AAAI 2015): how far scores and shares of good ones are apart
        in the bins, on the average over documents."""
        apart = sum(bin_.documents * abs(bin_.score - bin_.good) for bin_ in self.calibration)
        return apart / (self.good + self.bad)


def evaluate(scores: np.ndarray, good: np.ndarray, keep: float | None = None) -> Evaluation:
    """Of scores, float64[n] from 0 to 1, and labels, bool[n]; n is above 0.

    `keep` is the share of the documents that one wishes to keep; by default, as many as there are good ones.
    """
    wished = float(good.mean()) if keep is None else keep
    return Evaluation(
        good=int(good.sum()),
        bad=int((~good).sum()),
        half=_cut(scores, good, 0.5),
        wished=_cut(scores, good, threshold_for(scores, wished)),
        shares=tuple(_cut(scores, good, threshold_for(scores, share)) for share in SHARES),
        calibration=tuple(_bins(scores, good)),
    )


def threshold_for(scores: np.ndarray, keep: float) -> float:
    """The highest threshold that keeps this share of the scores at least, and one of them at least."""
    count = max(1, math.ceil(round(keep * len(scores), 6)))
    return float(np.sort(scores)[len(scores) - count])


def _cut(scores: np.ndarray, good: np.ndarray, threshold: float) -> Cut:
    kept = scores >= threshold
    right = int((kept & good).sum())
    return Cut(threshold, float(kept.mean()), right / max(int(kept.sum()), 1), right / max(int(good.sum()), 1))


def _bins(scores: np.ndarray, good: np.ndarray) -> list[Bin]:
    number = np.minimum((scores * BINS).astype(np.int64), BINS - 1)
    found = [(at, number == at) for at in range(BINS)]
    return [
        Bin(at / BINS, int(inside.sum()), float(scores[inside].mean()), float(good[inside].mean()))
        for at, inside in found
        if inside.any()
    ]
