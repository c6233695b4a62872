"""Words for whoever watches: they never stop the work, even where nobody reads them any more."""

import os
import sys
from typing import TextIO


def say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Writes to standard output, or to `stream`. If that is closed or full, what follows goes nowhere."""
    stream = sys.stdout if stream is None else stream
    try:
        stream.write(text + end)
        stream.flush()
    except UnicodeEncodeError:  # a terminal of another encoding
        encoding = stream.encoding or "ascii"
        say((text + end).encode(encoding, "replace").decode(encoding), stream, end="")
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def warn(text: str) -> None:
    """Writes to standard error."""
    say(text, sys.stderr)
