"""The transform of the Zyda corpus (arXiv 2406.01981): long runs of one character become one such character.

The original replaces one character after another. A run never becomes part of another character's run, so one pass
over the bytes gives the same.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.kernels.collapse import collapse, collapsed_lengths
from zydaflow.kernels.text import Text, from_arrow, to_arrow

# The number of equal characters from which on they become one.
RUN_LENGTHS = {
    "-": 10, " ": 40, "_": 10, "/": 10, "\\": 10, "\n": 10, "\t": 20, "\r": 10, ".": 10, ",": 10, ":": 10, "?": 10,
    "\u00a0": 10,
}  # fmt: skip


def _thresholds() -> np.ndarray:
    thresholds = np.zeros(256, np.int64)
    for character, length in RUN_LENGTHS.items():
        thresholds[list(character.encode())] = length
    return thresholds


THRESHOLDS = _thresholds()


def collapse_runs(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts with their long runs collapsed; the same array where no text has one. A null stays null."""
    data, offsets = from_arrow(texts)
    lengths = collapsed_lengths(data, offsets, THRESHOLDS)
    if lengths.sum() == offsets[-1] - offsets[0]:
        return texts
    out_offsets = np.concatenate(([0], np.cumsum(lengths)))
    out = np.empty(out_offsets[-1], np.uint8)
    collapse(data, offsets, THRESHOLDS, out, out_offsets)
    collapsed = to_arrow(Text(out, out_offsets))
    return pc.if_else(texts.is_valid(), collapsed, None) if texts.null_count else collapsed
