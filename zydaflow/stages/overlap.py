"""Documents of one dataset that have to do with documents of another, counted."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class Overlap:
    """Adds up documents, and their bytes and tokens, by names along some axes: a dataset, another one, an outcome."""

    def __init__(self, *axes: Sequence[str]) -> None:
        self._axes, self._shape = axes, tuple(map(len, axes))
        self._counts = {"documents": np.zeros(self._shape, np.int64)}

    def add(self, places: Sequence[np.ndarray], sizes: dict[str, np.ndarray]) -> None:
        """Adds n documents: the place of each one's name along every axis, int (n,), and its bytes, tokens …, int (n,).

        Sums over one call must stay below 2^53: float64 then holds them exactly.
        """
        cells = np.ravel_multi_index(tuple(places), self._shape)
        for unit, values in {"documents": None, **sizes}.items():
            sums = np.bincount(cells, values, minlength=int(np.prod(self._shape)))
            self._counts[unit] = self._counts.get(unit, 0) + sums.astype(np.int64).reshape(self._shape)

    def to_json(self) -> dict[str, Any]:
        """The counts by name, like {NAME: {OTHER: {"documents": n, "bytes": n}}}, without the cells that have none."""
        found: dict[str, Any] = {}
        for cell in np.argwhere(self._counts["documents"]):
            at = found
            for axis, place in zip(self._axes, cell, strict=True):
                at = at.setdefault(axis[place], {})
            at |= {unit: int(counts[tuple(cell)]) for unit, counts in self._counts.items()}
        return found
