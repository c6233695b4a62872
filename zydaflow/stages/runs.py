"""Runs of equal values."""

from itertools import pairwise

import numpy as np


def runs(values: np.ndarray) -> list[tuple[int, int]]:
    """(start, stop) of every run of equal neighbours, in order; none for no values."""
    if not len(values):
        return []
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    return list(pairwise([0, *starts.tolist(), len(values)]))
