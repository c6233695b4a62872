"""One run at a time owns an output folder."""

import contextlib
import fcntl
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta

import orjson
import psutil
from upath import UPath

from zydaflow.errors import RunError
from zydaflow.storage import AnyPath, is_local, path_of, read, remove

FILE = ".lock"
BEAT = 10.0  # seconds between two signs of life, where only those tell that an owner lives
LEASE = timedelta(seconds=60)  # without any, after which a folder is free


@contextlib.contextmanager
def owned(root: AnyPath) -> Iterator[None]:
    """Holds the folder for this process.

    On a disk, the system lets go of it when the process ends, however it ends. An object store has no such locks: there
    the owner gives a sign of life every `BEAT` seconds, and a process that was killed lets go when its host starts the
    next, or after `LEASE`.

    Raises RunError while another run holds it.
    """
    folder = path_of(root)
    with _flocked(folder) if is_local(folder) else _leased(folder):
        yield


def owner(root: AnyPath) -> str | None:
    """Which process owns the folder now; None if none does."""
    folder = path_of(root)
    if not is_local(folder):
        return _leased_by(folder)
    try:
        with (folder / FILE).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip()
    except FileNotFoundError:
        pass
    return None


def _me() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _refusal(root: UPath, other: str) -> RunError:
    return RunError(f"{root}: another run owns this folder ({other}); wait for it, or give another --out")


@contextlib.contextmanager
def _flocked(root: UPath) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True)
    with (root / FILE).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise _refusal(root, file.read().strip()) from None
        file.truncate(0)
        file.write(_me())
        file.flush()
        yield


@contextlib.contextmanager
def _leased(root: UPath) -> Iterator[None]:
    sign = orjson.dumps({"owner": _me(), "host": socket.gethostname(), "pid": os.getpid(), "run": secrets.token_hex(8)})
    file, over = root / FILE, threading.Event()
    if other := _leased_by(root):
        raise _refusal(root, other)
    remove([file])
    with contextlib.suppress(FileExistsError):
        file.fs.pipe_file(file.path, sign, mode="create")
    if read(file) != sign:  # one who began at the same time was first
        raise _refusal(root, _leased_by(root) or "it has just begun")
    beating = threading.Thread(target=_beat, args=(file, sign, over), daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()
        if _read(file) == sign:
            remove([file])


def _beat(file: UPath, sign: bytes, over: threading.Event) -> None:
    while not over.wait(BEAT):
        with contextlib.suppress(Exception):  # the next sign may come through
            file.write_bytes(sign)


def _leased_by(root: UPath) -> str | None:
    """The owner that gave a sign of life within `LEASE`, by the clock of the storage."""
    file, probe = root / FILE, root / f"{FILE}-{secrets.token_hex(8)}"
    sign = _read(file)
    if sign is None:
        return None
    found = orjson.loads(sign)
    if found["host"] == socket.gethostname() and not psutil.pid_exists(found["pid"]):
        return None
    probe.write_bytes(b"")
    try:
        silent = probe.fs.modified(probe.path) - file.fs.modified(file.path)
    except FileNotFoundError:
        return None
    finally:
        remove([probe])
    return f"{found['owner']}, {silent.total_seconds():.0f} s ago" if silent < LEASE else None


def _read(file: UPath) -> bytes | None:
    try:
        return read(file)
    except FileNotFoundError:
        return None
