"""Labelled lines, shuffled and split: the hash of a line says where it comes, so equal input is cut alike."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import xxhash

from zydaflow.classifier.documents import LABELS, Example
from zydaflow.signals.models import PREFIX

HELD_OUT = 0.1  # of the documents, where no file to evaluate on is given


class Examples:
    """Labelled lines in a file; in memory are 17 bytes for each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hashes: list[np.ndarray] = []
        self._starts: list[np.ndarray] = []
        self._good: list[np.ndarray] = []
        self._size = 0

    def add(self, examples: Iterable[Example], seed: int) -> tuple[int, int]:
        """Adds examples; returns how many they are, and their bytes."""
        hashes, starts, good, before = [], [], [], self._size
        with open(self._path, "ab") as file:
            for example in examples:
                data = f"{example.line}\n".encode()
                hashes.append(xxhash.xxh3_64_intdigest(data, seed))
                starts.append(self._size)
                good.append(example.good)
                self._size += file.write(data)
        self._hashes.append(np.array(hashes, np.uint64))
        self._starts.append(np.array(starts, np.int64))
        self._good.append(np.array(good, bool))
        return len(hashes), self._size - before

    def shuffled(self) -> "Shuffled":
        """Each different line once, in the order of their hashes; a line that is good and bad is left out."""
        hashes, starts, good = (np.concatenate(part) for part in (self._hashes, self._starts, self._good))
        order = np.lexsort([starts, hashes])
        hashes, starts, good = hashes[order], starts[order], good[order]
        first = np.append(True, hashes[1:] != hashes[:-1])
        group = np.cumsum(first) - 1
        share = np.bincount(group, good) / np.bincount(group)
        kept = first & ((share == 0) | (share == 1))[group]
        return Shuffled(self._path, hashes[kept], starts[kept], good[kept])


class Shuffled(NamedTuple):
    """Different lines of a file, by their hashes, where they start, and their labels."""

    path: Path
    hashes: np.ndarray  # uint64[n], ascending
    starts: np.ndarray  # int64[n]
    good: np.ndarray  # bool[n]

    def where(self, chosen: np.ndarray) -> "Shuffled":
        """Those that a mask says."""
        return Shuffled(self.path, self.hashes[chosen], self.starts[chosen], self.good[chosen])

    def split(self) -> tuple["Shuffled", "Shuffled"]:
        """Those to train on, and `HELD_OUT` of them, to evaluate on: of each label those that come first."""
        held_out = np.zeros(len(self.good), bool)
        for label in (False, True):
            of_label = np.flatnonzero(self.good == label)
            held_out[of_label[: round(len(of_label) * HELD_OUT)]] = True
        return self.where(~held_out), self.where(held_out)

    def read(self) -> Iterator[Example]:
        """The lines, one by one."""
        with open(self.path, "rb") as file:
            for start, good in zip(self.starts.tolist(), self.good.tolist(), strict=True):
                file.seek(start)
                yield Example(file.readline()[:-1].decode(), good)

    def write(self, file: IO[str]) -> None:
        """The form that fastText is trained from: a label, then the words, none of which may look like a label."""
        for line, good in self.read():
            file.write(f"{PREFIX}{LABELS[good]} {line.replace(PREFIX, ' ')}\n")
