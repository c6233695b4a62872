"""Progress of a run: one line per stage on a terminal or in a log, `progress.json` for other programs, and metrics."""

import contextlib
import shutil
import sys
import time
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

from zydaflow.engine.metrics import Metrics
from zydaflow.provenance.commits import Store
from zydaflow.provenance.numbers import duration, megabytes
from zydaflow.say import say
from zydaflow.stages.unit import Done
from zydaflow.storage import AnyPath, path_of, read

FILE = "progress.json"

Json = dict[str, Any]


def read_progress(out: AnyPath) -> Json | None:
    """The contents of a folder's `progress.json`; None where there is none that can be read."""
    try:
        progress = orjson.loads(read(path_of(out) / FILE))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return progress if isinstance(progress, dict) and "before" in progress else None


def begin_progress(store: Store) -> None:
    """Begins the file anew: a run has begun, and has come to no stage yet."""
    start = {"stage": "start-up", "state": "running", "started": _now(), "updated": _now(), "before": []}
    with contextlib.suppress(OSError):
        store.write(FILE, orjson.dumps(start))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Meter:
    """Counts one stage. A terminal shows its line anew once a second; elsewhere it is printed once, at the end.

    Who runs the units counts those that are `running`, `retried` and `failed`, and says the last `error`.
    """

    def __init__(
        self, store: Store, stage: str, units: int, bytes_: int, reused: int, stream: TextIO | None = None
    ) -> None:
        self._store, self._stage, self._units, self._total, self._reused = store, stage, units, bytes_, reused
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._start, self._drawn, self._started = time.monotonic(), 0.0, _now()
        self._before = _history(store)
        self._metrics = Metrics(store.root.name, stage)
        self.done = self.running = self.retried = self.failed = self.documents = self.bytes = self._estimated = 0
        self.error: str | None = None

    def finished(self, done: Done, estimated: int) -> None:
        """Counts a unit that is committed; `estimated` is what it was thought to hold."""
        self.done += 1
        self.documents += done.documents
        self.bytes += done.bytes
        self._estimated += estimated

    def tick(self) -> None:
        """Draws and writes the state if a second has gone since the last time."""
        now = time.monotonic()
        if now - self._drawn < 1:
            return
        self._drawn = now
        self._write("running")
        if self._live:
            width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be drawn anew
            say(f"\r\x1b[2K{self._line(live=True)[:width]}", self._stream, end="")

    def close(self, state: str = "done") -> None:
        """The last word on the stage."""
        self.running = 0
        self._write(state)
        clear = "\r\x1b[2K" if self._live else ""
        say(f"{clear}{self._line()}", self._stream)

    def _seconds(self) -> float:
        return max(time.monotonic() - self._start, 1e-9)

    def _left(self) -> float | None:
        """Seconds until the end of the stage if it goes on as so far; None before anything is done."""
        share = self._estimated / self._total if self._total else self.done / self._units
        return self._seconds() * (1 / share - 1) if share else None

    def _line(self, live: bool = False) -> str:
        parts = [f"{self._stage:<9} {self.done}/{self._units} units"]
        counts = [(self.running, "running"), (self.retried, "retried"), (self.failed, "failed")]
        parts += [f"{count} {what}" for count, what in [*counts, (self._reused, "reused")] if count]
        if self.documents:
            parts.append(f"{self.documents:,} documents")
        if self.bytes:
            parts.append(f"{megabytes(self.bytes)} at {self.bytes / 1e6 / self._seconds():.1f} MB/s")
        parts.append(duration(self._seconds()))
        if live and (left := self._left()) is not None:
            parts.append(f"{duration(left)} left")
        return " · ".join(parts)

    def _write(self, state: str) -> None:
        counts = {
            "units": self._units, "done": self.done, "running": self.running, "retried": self.retried,
            "failed": self.failed, "documents": self.documents, "bytes": self.bytes,
        }  # fmt: skip
        self._metrics.show(counts)
        left = self._left() if state == "running" else None
        fields = {
            "stage": self._stage, "state": state, **counts, "reused": self._reused,
            "seconds": round(self._seconds(), 3), "seconds_left": None if left is None else round(left, 1),
            "started": self._started, "updated": _now(), "error": self.error, "before": self._before,
        }  # fmt: skip
        with contextlib.suppress(OSError):  # a full disk is for the work to tell
            self._store.write(FILE, orjson.dumps(fields))


def _history(store: Store) -> list[Json]:
    """The stages of this run before the one that begins, in order, each as it was when it ended."""
    last = read_progress(store.root)
    if last is None:
        return []
    before = last.pop("before")
    return [*before, last]
