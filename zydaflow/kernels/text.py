"""Arrow string arrays as the flat buffers that kernels loop over, and back."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa


class Text(NamedTuple):
    """n documents of UTF-8: document i is data[offsets[i]:offsets[i + 1]]."""

    data: np.ndarray  # uint8, every byte of the buffer, read only
    offsets: np.ndarray  # int64, n + 1 of them; the first need not be 0

    def __len__(self) -> int:
        return len(self.offsets) - 1


_NOTHING = np.frombuffer(b"", np.uint8)  # read only like all others, or numba would compile each kernel once more


def from_arrow(array: pa.LargeStringArray) -> Text:
    """A view, without a copy, of a large_string array; a null reads as an empty document."""
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return Text(_NOTHING, np.frombuffer(bytes(8), np.int64))
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
    return Text(np.frombuffer(data, np.uint8) if data is not None else _NOTHING, bounds)


def to_arrow(text: Text) -> pa.LargeStringArray:
    """The documents as a large_string array that shares their buffers."""
    return pa.LargeStringArray.from_buffers(len(text), pa.py_buffer(text.offsets), pa.py_buffer(text.data))
