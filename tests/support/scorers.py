"""Functions that recipes of the tests name as scorers."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc


def length(texts: pa.LargeStringArray, divide: float = 1.0) -> pa.Array:
    """Characters."""
    return pc.divide(pc.utf8_length(texts).cast(pa.float64()), divide)


class Counting:
    """Occurrences of the words in a file; notes each time that it is made, and the texts of each call."""

    def __init__(self, words: str, notes: str | None = None) -> None:
        self.words, self.notes = Path(words).read_text().split(), notes
        self._note("made")

    def _note(self, what: str) -> None:
        if self.notes:
            with open(self.notes, "a") as file:
                file.write(f"{what}\n")

    def __call__(self, texts: pa.LargeStringArray) -> list[int]:
        self._note(str(len(texts)))
        return [sum(text.count(word) for word in self.words) for text in texts.to_pylist()]


def hostile(texts: pa.LargeStringArray) -> pa.Array:
    """Characters; fails on texts that say how."""
    joined = " ".join(texts.to_pylist())
    if "<exit>" in joined:
        os._exit(3)
    if "<crash>" in joined:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "<killed>" in joined:
        os.kill(os.getpid(), signal.SIGKILL)
    if "<hang>" in joined:
        signal.pause()
    if "<raise>" in joined:
        raise ValueError("a fault in the code")
    if "<storage>" in joined:
        raise ConnectionError("no answer")
    if "<many>" in joined and len(texts) > 8:
        raise MemoryError("so many at once")
    return length(texts)


def unsure(texts: pa.LargeStringArray) -> list[float | None]:
    """Nothing that counts, for some texts."""
    odd = {"nan": float("nan"), "inf": float("inf"), "none": None}
    return [odd.get(text, 1.0) for text in texts.to_pylist()]


def short(texts: pa.LargeStringArray) -> list[float]:
    """One number too few."""
    return [0.0] * (len(texts) - 1)


def words(texts: pa.LargeStringArray) -> pa.Array:
    """No numbers."""
    return pa.array([["a"]] * len(texts))


constant = 3
