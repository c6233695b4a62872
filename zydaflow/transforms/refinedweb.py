"""RefinedWeb's corrections of lines (arXiv 2306.01116, appendix G.2)."""

import pyarrow as pa

from zydaflow.kernels.refinedweb import correct, refinedweb_tables
from zydaflow.transforms.shrink import shrink


def correct_lines(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts without lines of capitals, numbers, counters and single words, and without phrases of navigation in
    short lines; the same array if there are none. A null stays null."""
    return shrink(
        texts, lambda data, offsets, out, out_offsets: correct(data, offsets, refinedweb_tables(), out, out_offsets)
    )
