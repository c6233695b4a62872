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
    """`function(store, *arguments)` does the work and commits it. `bytes` is an estimate of the text that it reads."""

    name: str
    function: Callable[..., Done]
    arguments: tuple[Any, ...]
    bytes: int


@dataclass
class Timing:
    """Seconds of work by the stage's workers, and what they worked through."""

    seconds: float = 0.0
    wall: float = 0.0
    documents: int = 0
    bytes: int = 0
    units: int = 0
