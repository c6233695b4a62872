"""How two members of a cluster are verified to be alike."""

from typing import NamedTuple

import numpy as np
from numba import njit

from zydaflow.kernels.jaccard import sets_alike

LIMIT_MET, DOUBTFUL = range(2)
"""Columns of a cluster's counts."""


class Check(NamedTuple):
    """How two members are verified to be alike."""

    exact: bool  # by their sets of shingles, else by their signatures
    least: int  # in how many values two alike signatures agree
    doubt: int  # an agreement less than this far from `least` says little about the sets
    hashes: np.ndarray  # uint64: the sets, sorted
    starts: np.ndarray  # int64 (m,)
    stops: np.ndarray  # int64 (m,)
    numerator: int  # of the threshold for the Jaccard of two sets
    denominator: int


@njit(cache=True, nogil=True, inline="always")
def alike(signatures: np.ndarray, i: int, j: int, check: Check, counts: np.ndarray) -> bool:
    """Whether two members are similar. Inlined: passing arrays on takes longer than comparing two signatures."""
    if check.exact:
        similar = sets_alike(check.hashes, check.starts, check.stops, i, j, check.numerator, check.denominator)
    else:
        equal = 0
        for k in range(signatures.shape[1]):
            equal += signatures[i, k] == signatures[j, k]
        counts[DOUBTFUL] += abs(equal - check.least) < check.doubt
        similar = equal >= check.least
    return similar
