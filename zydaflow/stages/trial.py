"""Trying documents out in a process that may come to grief over them."""

import multiprocessing
import signal
import time
import traceback
from contextlib import ExitStack
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import pyarrow as pa

from zydaflow.errors import ZydaflowError
from zydaflow.provenance.commits import Store
from zydaflow.sources import Batch
from zydaflow.sources.records import quarantine_of
from zydaflow.stages.job import Job
from zydaflow.stages.reading import Pass, time_limit, warm

NO_FAULT = (ZydaflowError, OSError, MemoryError)  # of a document: these tell of storage, inputs and the machine


class Failure(NamedTuple):
    """Why documents cannot be processed; the traceback where an error was raised."""

    reason: str
    traceback: str = ""


class Trial:
    """A process that does with documents what a unit does, and throws the results away; a new one where it ended."""

    def __init__(self, store: Store, job: Job) -> None:
        self._store, self._job = store, job
        self._process: Any = None

    def failure(self, path: str, low: int, high: int) -> Failure | None:
        """Why the records [low, high) of the stream in a file cannot be processed; None where they can.

        Raises MemoryError where the process was killed, as it is for memory, and the errors that are no fault of a
        document.
        """
        if self._process is None:
            self._start()
        began = time.monotonic()
        try:
            self._pipe.send((path, low, high))
            answer = self._pipe.recv()
        except (EOFError, OSError):  # it is gone
            return self._ended(time.monotonic() - began)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self) -> None:
        """Returns when the process has loaded all it needs, so that only documents take of their time."""
        context = multiprocessing.get_context("forkserver")  # of which each one has all imports already
        context.set_forkserver_preload([__name__])
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._store, self._job), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._pipe.recv()
        except EOFError:
            self._process.join()
            raise RuntimeError(f"a process for trying documents ended at once ({self._process.exitcode})") from None

    def _ended(self, seconds: float) -> Failure:
        self._process.join()
        code, self._process = self._process.exitcode, None
        if code == -signal.SIGKILL:
            raise MemoryError("the process that tried documents was killed: for want of memory, most likely")
        limit = self._job.recipe.resources.document_seconds
        if code == 1 and seconds >= limit:
            return Failure(f"its processing took longer than {limit:g} s")
        how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
        return Failure(f"its processing ended the process ({how})")

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, store: Store, job: Job) -> None:
    """What the process does, until the other end is closed."""
    pa.set_cpu_count(1)
    warm(job)
    pipe.send(None)
    while True:
        try:
            path, low, high = pipe.recv()
        except EOFError:
            return
        pipe.send(_try(store, job, path, low, high))


def _try(store: Store, job: Job, path: str, low: int, high: int) -> Failure | Exception | None:
    with pa.memory_map(path) as file, pa.ipc.open_stream(file) as stream:
        records = stream.read_next_batch().slice(low, high - low)
    try:
        with time_limit(job.recipe.resources.document_seconds, records.nbytes), ExitStack() as outputs:
            Pass(outputs, store, job, 0, None, {}).add(Batch(0, records, quarantine_of([]), 0, 0))
    except NO_FAULT as error:
        return error
    except Exception as error:
        return Failure(f"its processing raised {type(error).__name__}: {error}", traceback.format_exc())
    return None
