"""A rule: one bound on one column, that says which documents are removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Test = Literal["min", "max", "allow", "deny"]


@dataclass(frozen=True)
class Rule:
    """Removes a document whose value is below a `min`, above a `max`, none of an `allow`, or one of a `deny`.

    Where the value is null, the rule does not apply; only with `known` a null is removed as well. With `folded`, labels
    are compared without regard to case and to spaces around them.
    """

    name: str  # what a verdict names it by, like `n_words.min`
    signal: str  # the column: a signal, or `license`
    test: Test
    bound: float | tuple[str, ...]  # a number, in the signal's unit, for min and max; else labels
    known: bool = False
    folded: bool = False

    def breaks(self, column: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Which of n values the rule removes: bool[n]."""
        if self.test == "min":
            broken = pc.less(column, self.bound)
        elif self.test == "max":
            broken = pc.greater(column, self.bound)
        else:
            labels = pa.array(self.bound, pa.string())
            listed = pc.is_in(_folded(column), _folded(labels)) if self.folded else pc.is_in(column, labels)
            broken = pc.if_else(column.is_valid(), listed if self.test == "deny" else pc.invert(listed), None)
        return broken.fill_null(self.known).to_numpy(zero_copy_only=False)

    def to_json(self) -> dict[str, Any]:
        """The rule as strict JSON: part of fingerprints and of statistics."""
        bound = list(self.bound) if isinstance(self.bound, tuple) else self.bound
        return {**vars(self), "bound": bound}


def _folded(labels: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.utf8_lower(pc.utf8_trim_whitespace(labels))


def judge(table: pa.RecordBatch | pa.Table, rules: Sequence[Rule]) -> np.ndarray:
    """Which rule each of n documents breaks: bool[n, rules], True = broken. `table` has the columns of the rules."""
    broken = np.empty((table.num_rows, len(rules)), bool)
    for number, rule in enumerate(rules):
        broken[:, number] = rule.breaks(table.column(rule.signal))
    return broken
