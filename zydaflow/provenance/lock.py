"""One run at a time owns an output folder."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from zydaflow.errors import RunError

FILE = ".lock"


@contextlib.contextmanager
def owned(root: Path) -> Iterator[None]:
    """Holds the folder for this process. The system lets go of it when the process ends, however it ends.

    Raises RunError while another run holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / FILE).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise RunError(
                f"{root}: another run owns this folder ({file.read().strip()}); wait for it, or give another --out"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def owner(root: Path) -> str | None:
    """Which process owns the folder now; None if none does."""
    try:
        with (root / FILE).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip()
    except FileNotFoundError:
        pass
    return None
