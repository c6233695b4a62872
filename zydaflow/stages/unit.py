"""A unit of work: plain data and a plain function, which any worker can do at any time and do again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """What a unit worked through, for progress and timings; its results are in its commit record."""

    documents: int
    bytes: int


@dataclass(frozen=True)
class Unit:
    """`function(store, *arguments)` does the work and commits it. `bytes` is an estimate of the text that it reads.

    That of a `careful` unit takes one more argument when it is called after a failure: the Trouble there was.
    """

    name: str
    function: Callable[..., Done]
    arguments: tuple[Any, ...]
    bytes: int
    careful: bool = False


@dataclass(frozen=True)
class Trouble:
    """What befell a unit before: what its function has to take care of when it does it again."""

    kills: int = 0  # times that its memory did not suffice, or that its worker died: smaller batches may help
    suspect: bool = False  # its worker died, or it raised an error: a document may have done that


NONE = Trouble()


@dataclass
class Timing:
    """Seconds of work by the stage's workers, and what they worked through."""

    seconds: float = 0.0
    wall: float = 0.0
    documents: int = 0
    bytes: int = 0
    units: int = 0
