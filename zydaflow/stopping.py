"""Ctrl-C and SIGTERM for commands: the first stops the work within seconds, the second at once."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator

from zydaflow.say import warn

GRACE = 4.0  # seconds for leaving Ray; every commit is whole at any moment, so that nothing is lost by less
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def end(status: int, last_words: str) -> None:
    """Ends the process at once, from any thread: for where the main one is in native code that does not return."""
    warn(last_words)
    os._exit(status)


@contextlib.contextmanager
def stoppable(status: int, last_words: str) -> Iterator[None]:
    """The first signal raises KeyboardInterrupt inside; a second, or `GRACE` gone by, ends the process with `status`.

    A handler that a library sets meanwhile may raise SystemExit instead. For the main thread; in any other nothing
    changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        if not stopping:
            stopping = True
            raise KeyboardInterrupt

    with _counted(status, last_words):
        before = [signal.signal(number, stop) for number in SIGNALS]
        try:
            yield
        finally:
            for number, handler in zip(SIGNALS, before, strict=True):
                signal.signal(number, handler)


@contextlib.contextmanager
def _counted(status: int, last_words: str) -> Iterator[None]:
    """Sees to it that the process ends in time, whoever handles the signals, and however long that takes.

    Python tells of every signal through a socket when it comes, which is before the main thread gets to the handler.
    """
    told, telling = socket.socketpair()
    telling.setblocking(False)
    timer = threading.Timer(GRACE, end, (status, last_words))
    timer.daemon = True

    def count() -> None:
        while number := told.recv(1):
            if number[0] in SIGNALS and timer.is_alive():
                end(status, last_words)
            elif number[0] in SIGNALS:
                timer.start()

    threading.Thread(target=count, daemon=True).start()
    before = signal.set_wakeup_fd(telling.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        telling.close()
        timer.cancel()
