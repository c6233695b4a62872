"""A stream of bytes cut into lines, with the place of each, in memory that a single endless line does not exceed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from zydaflow.sources import records


class Lines(NamedTuple):
    """Consecutive lines, without their newlines. A line above MAX_RECORD_BYTES is there with its first bytes only."""

    positions: np.ndarray  # int64[n]: where each line begins in the stream
    sizes: np.ndarray  # int64[n]: bytes of each line, without its newline
    lines: list[bytes]

    @property
    def end(self) -> int:
        """Where the last line ends."""
        return int(self.positions[-1] + self.sizes[-1])


def lines_between(blocks: Iterable[bytes], offset: int, start: int, stop: int) -> Iterator[Lines]:
    """The lines that begin in [start, stop) of a stream whose blocks follow from byte `offset`, a run per block.

    A line begins at 0 and after every newline byte; so the ranges of any cutting share out all lines, each once.
    stop -1 is the end. `offset` must be below `start` (or 0): the byte before `start` tells if a line begins there.
    """
    unfinished = _Unfinished()
    for position, block in _from_first_line(blocks, offset, start):
        begin = unfinished.position if unfinished.size else position
        if 0 <= stop <= begin:
            return
        newline = block.find(b"\n")
        if newline >= 0 and unfinished.size + newline > records.MAX_RECORD_BYTES:
            unfinished.add(position, block[:newline])
            yield unfinished.take()
            begin = position = position + newline + 1
            block = block[newline + 1 :]
        cut = block.rfind(b"\n") + 1
        if cut:
            run = _below(_split(begin, unfinished.joined(block[: cut - 1])), stop)
            if run.lines:
                yield run
        unfinished.add(position + cut, block[cut:])
    if unfinished.size and not 0 <= stop <= unfinished.position:
        yield unfinished.take()


class _Unfinished:
    """The line whose newline has not come yet."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.position = 0
        self.size = 0

    def add(self, position: int, piece: bytes) -> None:
        if self.size == 0:
            self.position = position
        self.size += len(piece)
        self.pieces.append(piece)
        if self.size > records.MAX_RECORD_BYTES:
            self.pieces = [b"".join(piece[: records.HEAD] for piece in self.pieces)[: records.HEAD]]

    def joined(self, rest: bytes) -> bytes:
        """The line and what follows it; afterwards there is no unfinished line."""
        data = b"".join([*self.pieces, rest]) if self.size else rest
        self.pieces, self.size = [], 0
        return data

    def take(self) -> Lines:
        """The line, as finished; afterwards there is no unfinished one."""
        sizes = np.array([self.size], np.int64)
        return Lines(np.array([self.position], np.int64), sizes, [self.joined(b"")])


def _from_first_line(blocks: Iterable[bytes], offset: int, start: int) -> Iterator[tuple[int, bytes]]:
    """(position, block) from the first line on that begins at `start` or later."""
    seeking = start > 0
    for block in blocks:
        position, offset = offset, offset + len(block)
        if seeking:
            newline = block.find(b"\n", max(0, start - 1 - position))
            if newline < 0:
                continue
            seeking = False
            position, block = position + newline + 1, block[newline + 1 :]
        if block:
            yield position, block


def _split(position: int, data: bytes) -> Lines:
    lines = data.split(b"\n")
    sizes = np.fromiter(map(len, lines), np.int64, len(lines))
    ends = position + np.cumsum(sizes + 1)
    return Lines(ends - sizes - 1, sizes, lines)


def _below(run: Lines, stop: int) -> Lines:
    """The lines that begin before `stop`."""
    if stop < 0:
        return run
    n = int(np.searchsorted(run.positions, stop))
    return Lines(run.positions[:n], run.sizes[:n], run.lines[:n])
