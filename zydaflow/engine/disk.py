"""A disk that takes no more, told in one way wherever it is met."""

import contextlib
import errno
from collections.abc import Iterator

from zydaflow.errors import RunError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EROFS, errno.EACCES)


def is_full(error: BaseException) -> bool:
    """Whether there is no space, or no more of one's quota."""
    return isinstance(error, OSError) and error.errno in _FULL


@contextlib.contextmanager
def explained(folder: str) -> Iterator[None]:
    """Turns errors of the output folder's disk into RunError."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise RunError(
                f"{folder}: the disk is full ({error}). Nothing half-done was committed; "
                "make space and run the same command again"
            ) from error
        if error.errno in _CLOSED:
            raise RunError(f"{folder}: cannot be written to ({error})") from error
        raise
