"""How many different values there are, and how evenly they are spread."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_distinct(hashes: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values of each document, int64[n], and the entropy of their distribution in nats, float64[n].

    Document i's values are hashes[bounds[i]:bounds[i + 1]] (uint64), which are sorted in place. 0 and 0 without any.
    """
    distinct = np.zeros(len(bounds) - 1, np.int64)
    entropy = np.zeros(len(bounds) - 1, np.float64)
    for document in range(len(distinct)):
        values = hashes[bounds[document] : bounds[document + 1]]
        values.sort()
        begin, total = 0, 0.0
        for end in range(1, len(values) + 1):
            if end == len(values) or values[end] != values[begin]:
                share = (end - begin) / len(values)
                total -= share * np.log(share)
                distinct[document] += 1
                begin = end
        entropy[document] = total
    return distinct, entropy
