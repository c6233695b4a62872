"""Edges of histograms. Bin i of n edges counts edges[i - 1] <= value < edges[i]; the first and last are open."""

import numpy as np

COUNTS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 21, 31, 51, 76, 101, 201, 501, 1001, 10001], np.float64)
SIZES = np.array([0, *(round(10 ** (k / 8)) for k in range(4, 65))], np.float64)  # 3 to 10⁸, eight to a tenfold
SHARES = np.linspace(0, 1, 101)
SMALL_SHARES = np.array([0, *(10 ** (k / 8) for k in range(-48, 1))])  # 10⁻⁶ to 1, eight to a tenfold
WORD_LENGTHS = np.linspace(0, 20, 81)
NONE = np.empty(0)  # of labels and texts
# Of numbers that may be anything: fine from -10 to 10, finer from 0 to 1, and to ±10⁸, eight to a tenfold.
NUMBERS = np.unique(
    np.round(
        [
            *np.linspace(-10, 10, 201),
            *np.linspace(0, 1, 101),
            *(s * 10 ** (k / 8) for k in range(9, 65) for s in (-1, 1)),
        ],
        6,
    )
)
