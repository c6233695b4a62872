"""What deduplication may do with the documents of each dataset."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Roles(NamedTuple):
    """By dataset number, d datasets; an index of documents from elsewhere is a dataset whose number comes last."""

    precedence: np.ndarray  # int64 (d,): the dataset's place in keeper order
    is_index: np.ndarray  # bool (d,): it is an index
    loses: np.ndarray  # bool (d,): its documents may be removed at all
    to_others: np.ndarray  # bool (d,): … for a document of any other dataset, and not only for one of an index
    within: np.ndarray  # bool (d,): … as near-duplicates of one in their own dataset
    across: np.ndarray  # bool (d,): … as near-duplicates of one in any other dataset


def roles(
    frozen: Sequence[bool], passes: Sequence[str], remove_from: Sequence[bool] | None = None, indexes: int = 0
) -> Roles:
    """The roles of datasets in rank order, followed by indexes.

    Indexes come first in keeper order, then what is frozen, then the datasets that others lose documents to, then those
    that documents are removed from; each by rank.

    Args:
        frozen: of each dataset.
        passes: those of the recipe.
        remove_from: which datasets lose documents to others; None for all.
        indexes: how many there are.
    """
    index = np.array([False] * len(frozen) + [True] * indexes)
    fixed = np.array([*frozen, *[True] * indexes], bool)
    to_others = ~fixed
    if remove_from is not None:
        to_others &= np.array([*remove_from, *[False] * indexes], bool)
    order = np.lexsort((np.arange(len(index)), to_others if remove_from is not None else ~fixed, ~fixed, ~index))
    precedence = np.empty(len(index), np.int64)
    precedence[order] = np.arange(len(index))
    return Roles(precedence, index, ~fixed, to_others, ~fixed & ("within" in passes), to_others & ("across" in passes))
