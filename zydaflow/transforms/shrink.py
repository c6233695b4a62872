"""Transforms that only take something out of texts, by a kernel that writes what is left."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.kernels.text import Text, from_arrow, to_arrow


def shrink(
    texts: pa.LargeStringArray, write: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
) -> pa.LargeStringArray:
    """The texts that `write` makes of `texts`; the same array where it changes nothing. A null stays null.

    `write` is given the texts' data and offsets, and fills in those of the result: uint8, with room for all of the
    texts, and int64, n + 1 from 0 on.
    """
    data, offsets = from_arrow(texts)
    begin, end = offsets[0], offsets[-1]
    out, out_offsets = np.empty(end - begin, np.uint8), np.empty(len(offsets), np.int64)
    write(data, offsets, out, out_offsets)
    if np.array_equal(out_offsets, offsets - begin) and np.array_equal(out, data[begin:end]):
        return texts
    shrunk = to_arrow(Text(out[: out_offsets[-1]], out_offsets))
    return pc.if_else(texts.is_valid(), shrunk, None) if texts.null_count else shrunk
