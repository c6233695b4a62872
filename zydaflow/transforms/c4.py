"""The lines that C4 keeps (arXiv 1910.10683, section 2.2, and its program in TensorFlow Datasets)."""

import pyarrow as pa

from zydaflow.kernels.c4 import clean_c4
from zydaflow.kernels.c4_tables import c4_tables
from zydaflow.transforms.shrink import shrink


def clean(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts without the lines and the marks of citations that C4 takes out; the same array if there are none.

    A null stays null. With the rules of the set `c4` afterwards, the documents left are those of C4 before its
    deduplication.
    """
    return shrink(texts, lambda data, offsets, out, out_offsets: clean_c4(data, offsets, c4_tables(), out, out_offsets))
