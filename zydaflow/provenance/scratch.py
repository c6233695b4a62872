"""Arrays that a task works on: in its memory as far as that reaches, and beyond that in files."""

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO

import numpy as np

from zydaflow.provenance.commits import Store
from zydaflow.storage import TEMPORARY, on_this_machine


class Scratch:
    """Hands out arrays: in memory as long as those in use take `limit` bytes together, and any other in a file.

    The files lie in `work/` of the output folder, or in TMPDIR where that is elsewhere, without a name, so that nothing
    is left of them, however the task ends. Their pages are the system's to write out and drop; they go when the array
    does.
    """

    def __init__(self, store: Store, limit: int) -> None:
        self._folder, self._left = on_this_machine(store.path("work")), limit

    def empty(self, shape: int | tuple[int, ...], dtype: type[np.generic]) -> np.ndarray:
        """An array of any content. Raises OSError where the disk has no room for it."""
        lengths = shape if isinstance(shape, tuple) else (shape,)
        size = int(math.prod(lengths)) * np.dtype(dtype).itemsize
        if size <= self._left:
            array = np.empty(lengths, dtype)
            self._left -= size
            weakref.finalize(array, self._give_back, size)
            return array
        with self._file() as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a disk that is full is no error later but the end (SIGBUS)
            return np.frombuffer(mmap.mmap(file.fileno(), size), dtype).reshape(lengths)

    def concatenate(self, pieces: Iterable[np.ndarray], dtype: type[np.generic]) -> np.ndarray:
        """One array of one dimension out of pieces of it, whose size is not known before the last.

        Holds no more than the limit and one piece. Raises OSError where the disk has no room.
        """
        held: list[np.ndarray] = [np.empty(0, dtype)]
        with ExitStack() as outputs:
            file: IO[bytes] | None = None
            for piece in pieces:
                held.append(piece)
                if sum(part.nbytes for part in held) > self._left:
                    file = file or outputs.enter_context(self._file())
                    file.writelines(part.data for part in held)
                    held.clear()
            if file is None:
                return np.concatenate(held)
            file.writelines(part.data for part in held)
            file.flush()
            return np.frombuffer(mmap.mmap(file.fileno(), file.tell()), dtype)

    def _file(self) -> IO[bytes]:
        self._folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=self._folder, prefix=TEMPORARY)

    def full(self, shape: int | tuple[int, ...], value: int | np.integer, dtype: type[np.generic]) -> np.ndarray:
        """An array that holds one value everywhere. Raises OSError where the disk has no room for it."""
        array = self.empty(shape, dtype)
        array.fill(value)
        return array

    def _give_back(self, size: int) -> None:
        self._left += size
