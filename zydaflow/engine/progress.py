"""Progress of a run: one line per stage on a terminal or in a log, and `progress.json` for other programs."""

import contextlib
import shutil
import sys
import time
from typing import TextIO

import orjson

from zydaflow.provenance.commits import Store
from zydaflow.provenance.numbers import duration, megabytes
from zydaflow.say import say
from zydaflow.stages.unit import Done

FILE = "progress.json"


class Meter:
    """Counts one stage. A terminal shows its line anew once a second; elsewhere it is printed once, at the end."""

    def __init__(
        self, store: Store, stage: str, units: int, bytes_: int, reused: int, stream: TextIO | None = None
    ) -> None:
        self._store, self._stage, self._units, self._total, self._reused = store, stage, units, bytes_, reused
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._start, self._drawn = time.monotonic(), 0.0
        self.done = self.running = self.retried = self.failed = self.documents = self.bytes = self._estimated = 0

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
            say(f"\r\x1b[2K{(self._line() + self._left())[:width]}", self._stream, end="")

    def close(self, state: str = "done") -> None:
        """The last word on the stage."""
        self._write(state)
        clear = "\r\x1b[2K" if self._live else ""
        say(f"{clear}{self._line()}", self._stream)

    def _seconds(self) -> float:
        return max(time.monotonic() - self._start, 1e-9)

    def _line(self) -> str:
        parts = [f"{self._stage:<9} {self.done}/{self._units} units"]
        if self._reused:
            parts.append(f"{self._reused} reused")
        if self.documents:
            parts.append(f"{self.documents:,} documents")
        if self.bytes:
            parts.append(f"{megabytes(self.bytes)} at {self.bytes / 1e6 / self._seconds():.1f} MB/s")
        parts += [f"{count} {what}" for count, what in ((self.retried, "retried"), (self.failed, "failed")) if count]
        return " · ".join([*parts, duration(self._seconds())])

    def _left(self) -> str:
        if not self._estimated or self._estimated >= self._total:
            return ""
        return f" · {duration(self._seconds() * (self._total - self._estimated) / self._estimated)} left"

    def _write(self, state: str) -> None:
        fields = {
            "stage": self._stage, "state": state, "units": self._units, "done": self.done, "reused": self._reused,
            "running": self.running, "retried": self.retried, "failed": self.failed, "documents": self.documents,
            "bytes": self.bytes, "seconds": round(self._seconds(), 3),
        }  # fmt: skip
        with contextlib.suppress(OSError):  # a full disk is for the work to tell
            self._store.write(FILE, orjson.dumps(fields))
