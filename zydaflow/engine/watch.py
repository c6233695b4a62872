"""The processes of Ray without which a run cannot go on, watched.

Where one is gone, Ray waits in native code, deaf to exceptions, and then ends the process with status 1 and no word.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from zydaflow.errors import RunError
from zydaflow.resuming import how_to_resume
from zydaflow.say import warn
from zydaflow.stopping import end

PATIENCE = 40.0
"""Seconds in which a head has to answer, or to come back: after 60 without one Ray ends the process."""

AT_ONCE = 2.0
"""The same, of a head that nobody starts again."""

_SOON = 5.0  # seconds until the waiting is told, and for an answer
_EVERY = 2.0  # seconds


@contextlib.contextmanager
def joining(address: str) -> Iterator[None]:
    """Says that a head keeps us waiting, and ends the process when it does so for too long."""
    name = f"the Ray cluster at {address}"
    waiting = f"{name} does not answer yet; waiting up to {PATIENCE:.0f} s"
    over = f"zydaflow: --address: {name} does not answer; is its head alive? To go on: {how_to_resume()}"
    timers = [
        threading.Timer(_SOON, warn, (waiting,)),
        threading.Timer(PATIENCE, end, (RunError.exit_code, over)),
    ]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


@contextlib.contextmanager
def watched(patience: float) -> Iterator[None]:
    """Ends the process when nothing has listened for so many seconds where the head does, or where our own node does.

    A node does not come back, so that it is not waited for.
    """
    import ray

    context = ray.get_runtime_context()
    (own,) = [node for node in ray.nodes() if node["NodeID"] == context.get_node_id()]
    places = {
        "the head of Ray": (context.gcs_address, patience),
        "Ray's node on this machine": (f"{own['NodeManagerAddress']}:{own['NodeManagerPort']}", AT_ONCE),
    }
    resume, over = how_to_resume(), threading.Event()
    watches = [
        threading.Thread(target=_watch, args=(name, *place, resume, over), daemon=True)
        for name, place in places.items()
    ]
    for watch in watches:
        watch.start()
    try:
        yield
    finally:
        over.set()


def _watch(name: str, address: str, patience: float, resume: str, over: threading.Event) -> None:
    gone: float | None = None  # since when
    while not over.wait(_EVERY):
        if _listens(address):
            gone = None
        elif gone is None:
            gone = time.monotonic()
            warn(f"{name}, at {address}, does not answer; waiting {patience:.0f} s for it")
        elif time.monotonic() - gone >= patience:
            end(RunError.exit_code, f"zydaflow: {name}, at {address}, is gone; to go on: {resume}")


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_SOON).close()
    except OSError:
        return False
    return True
