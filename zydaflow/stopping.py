"""Ctrl-C and SIGTERM for commands: the first stops the work within seconds, the second at once."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

from zydaflow.say import warn

GRACE = 4.0  # seconds for leaving Ray; every commit is whole at any moment, so that nothing is lost by less
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stoppable(status: int, last_words: str) -> Iterator[None]:
    """The first signal raises KeyboardInterrupt inside; a second, or `GRACE` gone by, ends the process with `status`.

    For the main thread; in any other nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end() -> None:
        warn(last_words)
        os._exit(status)

    timer = threading.Timer(GRACE, end)
    timer.daemon = True

    def stop(*_: object) -> None:
        if timer.is_alive():
            end()
        timer.start()
        raise KeyboardInterrupt

    before = [signal.signal(number, stop) for number in SIGNALS]
    try:
        yield
    finally:
        timer.cancel()
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
