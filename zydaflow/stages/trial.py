"""Trying documents out in a process that may come to grief over them."""

import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import pyarrow as pa

from zydaflow.errors import ZydaflowError
from zydaflow.sources import Batch
from zydaflow.stages.reading import time_limit

NO_FAULT = (ZydaflowError, OSError, MemoryError)  # of a document: these tell of storage, inputs and the machine


class Failure(NamedTuple):
    """Why documents cannot be processed; the traceback where an error was raised."""

    reason: str
    traceback: str = ""


class Trial:
    """A process that works on documents; a new one where it ended.

    It calls `warm` once, and then `work` on records, within `seconds` for each `BATCH_BYTES`; both are pickled. What
    work does with documents is what a unit does, to find those that it cannot be done with; or it is their only user.
    """

    def __init__(self, warm: Callable[[], Any], work: Callable[..., Any], seconds: float) -> None:
        self._warm, self._work, self._seconds = warm, work, seconds
        self._process: Any = None

    def failure(self, path: str, low: int, high: int) -> Failure | None:
        """Why the records [low, high) of the stream in a file cannot be processed; None where they can.

        Raises what `result` does.
        """
        result = self.result(path, low, high)
        return result if isinstance(result, Failure) else None

    def result(self, path: str, low: int, high: int, *arguments: Any) -> Any:
        """What work gives for the records [low, high) of the stream in a file and the arguments, or a Failure.

        Raises MemoryError where the process was killed, as it is for memory, the errors that are no fault of a
        document, and what `warm` raises.
        """
        self.begin()
        began = time.monotonic()
        try:
            self._pipe.send((path, low, high, arguments))
            answer = self._pipe.recv()
        except (EOFError, OSError):  # it is gone
            process, self._process = self._process, None
            return _ended(process, "its processing", time.monotonic() - began, self._seconds)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def begin(self) -> None:
        """Returns when there is a process that has loaded all it needs, so that only documents take of their time."""
        if self._process is not None:
            return
        self._process, self._pipe = _process(_serve, self._warm, self._work, self._seconds)
        process = self._process
        try:
            error = self._pipe.recv()
        except EOFError:
            process.join()
            self._process = None
            raise RuntimeError(f"a process for trying documents ended at once ({process.exitcode})") from None
        if error is not None:
            self.close()
            raise error

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def unreadable(read: Callable[[], Iterator[Batch]], seconds: float) -> Failure | None:
    """Why batches cannot be read, which is tried in a process of its own; None where they can, or an error says it.

    `read` gives the batches and ends the process itself where one takes longer than `seconds`. Raises MemoryError where
    it was killed.
    """
    process, pipe = _process(_read, read)
    after = "from its beginning"
    began = time.monotonic()
    try:
        while True:
            after = f"after the record at {pipe.recv():,}"
            began = time.monotonic()
    except (EOFError, OSError):
        failure = _ended(process, f"reading on {after}", time.monotonic() - began, seconds)
        return failure if process.exitcode else None


def _process(target: Callable[..., None], *arguments: Any) -> tuple[Any, Connection]:
    """A process that does this, and the pipe to it, whose other end it gets as its first argument."""
    context = multiprocessing.get_context("forkserver")  # of which each one has all imports already
    context.set_forkserver_preload([__name__])
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _ended(process: Any, what: str, seconds: float, limit: float) -> Failure:
    """What ended the process so long after it began with what it was at."""
    process.join()
    code = process.exitcode
    if code == -signal.SIGKILL:
        raise MemoryError("the process that tried documents was killed: for want of memory, most likely")
    if code == 1 and seconds >= limit:
        return Failure(f"{what} took longer than {limit:g} s")
    how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
    return Failure(f"{what} ended the process ({how})")


def _serve(pipe: Connection, warm: Callable[[], Any], work: Callable[..., Any], seconds: float) -> None:
    """What the process does, until the other end is closed."""
    pa.set_cpu_count(1)
    try:
        warm()
    except ZydaflowError as error:
        pipe.send(error)
        return
    pipe.send(None)
    while True:
        try:
            path, low, high, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(_try(work, seconds, path, low, high, arguments))


def _try(work: Callable[..., Any], seconds: float, path: str, low: int, high: int, arguments: tuple[Any, ...]) -> Any:
    with pa.memory_map(path) as file, pa.ipc.open_stream(file) as stream:
        records = stream.read_next_batch().slice(low, high - low)
    try:
        with time_limit(seconds, records.nbytes):
            return work(records, *arguments)
    except NO_FAULT as error:
        return error
    except Exception as error:
        return Failure(f"its processing raised {type(error).__name__}: {error}", traceback.format_exc())


def _read(pipe: Connection, read: Callable[[], Iterator[Batch]]) -> None:
    pa.set_cpu_count(1)
    with suppress(Exception):  # who reads for good meets it too
        for batch in read():
            if len(batch.records):
                pipe.send(batch.records["position"][-1].as_py())
