"""How this run was started, which is how to go on with it after it has stopped."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from contextvars import ContextVar

_started_by: ContextVar[str] = ContextVar("started_by", default="the same call")


@contextlib.contextmanager
def started_by(command: str) -> Iterator[None]:
    """What is done inside was started by this command line or call."""
    token = _started_by.set(command)
    try:
        yield
    finally:
        _started_by.reset(token)


def how_to_resume() -> str:
    """The command line as it was given, quoted for a shell; in Python, the call."""
    return _started_by.get()


def command_line() -> str:
    """Of this process: a command's own name, or Python with its script or module."""
    python, *words = sys.orig_argv
    return shlex.join(words if words and os.path.basename(words[0]) == "zydaflow" else [python, *words])
