"""What rules would do to the documents of a run, counted over its stored signals, a batch of columns at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.filters import AnyRule, judge
from zydaflow.provenance.run import Run

CASES = ("at_all", "first", "alone")
JUDGED = pa.array(["kept", "filtered"])  # verdicts of documents with text; the others break no rule


class Effect(NamedTuple):
    """Documents and bytes of text, int64 each: those that no rule removes, and rule by rule those that it removes.

    A rule's documents are counted `at_all`, which is what it would remove if it were the only one; `first`, where they
    break no rule before it; and `alone`, where they break no other, so that they would stay without it.
    """

    kept: np.ndarray  # (2,)
    removed: np.ndarray  # (rules, cases, 2)


def effect(run: Run, dataset: str, rules: Sequence[AnyRule]) -> Effect:
    """What the rules would do to a dataset. Raises InputError for signals that are not there."""
    kept, removed = np.zeros(2, np.int64), np.zeros((len(rules), len(CASES), 2), np.int64)
    columns = dict.fromkeys(["verdict", "bytes", *(name for rule in rules for name in rule.columns)])
    for batch in run.signal_batches(dataset, list(columns)):
        judged = pc.is_in(batch["verdict"].cast(pa.string()), JUDGED).to_numpy(zero_copy_only=False)
        broken = np.ascontiguousarray((judge(batch, rules) & judged[:, None]).T)  # a row per rule
        times, sizes = broken.sum(axis=0), batch["bytes"].to_numpy()
        kept += _count(judged & (times == 0), sizes)
        before, once = np.zeros(len(batch), bool), times == 1
        for number, breaks in enumerate(broken):
            for case, mask in enumerate((breaks, breaks & ~before, breaks & once)):
                removed[number, case] += _count(mask, sizes)
            before |= breaks
    return Effect(kept, removed)


def _count(mask: np.ndarray, sizes: np.ndarray) -> tuple[int, int]:
    return int(np.count_nonzero(mask)), int(sizes[mask].sum())
