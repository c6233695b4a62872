"""A remote file that is read whole or not at all, however often its connection breaks."""

import io
from functools import partial
from typing import BinaryIO

from zydaflow.patience import from_storage


class UnbrokenFile(io.RawIOBase):
    """Reads the file of `url` that `file` has open, of `size` bytes.

    What is read is all that was asked for, or all up to the end. A read that breaks off goes on where it was,
    patiently; ConnectionError tells that it came to nothing.
    """

    def __init__(self, url: str, file: BinaryIO, size: int) -> None:
        self._url, self._file, self._size = url, file, size

    def read(self, size: int = -1) -> bytes:
        here = self._file.tell()
        stop = self._size if size < 0 else min(here + size, self._size)
        pieces = []
        while here < stop:
            pieces.append(from_storage(self._url, partial(self._some, stop - here)))
            here += len(pieces[-1])
        return b"".join(pieces)

    def _some(self, size: int) -> bytes:
        """At least a byte, where fsspec takes an answer that stops short for the end of the file."""
        data = self._file.read(size)
        if not data:
            raise ConnectionError(f"nothing came at byte {self._file.tell():,} of {self._size:,}")
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
