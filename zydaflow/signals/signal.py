"""What a signal is, and the measure that provides it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from zydaflow.kernels.text import Text
from zydaflow.signals.resources import Resources

# A label is one of few, which are counted; a text may be anything, and is not.
Kind = Literal["integer", "fraction", "number", "label", "text"]
_TYPES = {
    "integer": pa.int64(),
    "fraction": pa.float64(),
    "number": pa.float64(),
    "label": pa.string(),
    "text": pa.string(),
}


@dataclass(frozen=True, eq=False)
class Signal:
    """A value measured on a document, under a name whose meaning never changes."""

    name: str
    kind: Kind
    unit: str
    specification: str  # one sentence
    source: str
    bins: np.ndarray  # float64: increasing edges, the same for every run, to add histograms; none for labels and texts

    @property
    def type(self) -> pa.DataType:
        """The type of its column."""
        return _TYPES[self.kind]


def _no_inputs(resources: Resources) -> Any:
    return None


@dataclass(frozen=True, eq=False)
class Measure:
    """Signals that are computed together. `version` is raised whenever a value of any of them changes."""

    name: str
    version: int
    signals: tuple[Signal, ...]
    function: Callable[[Text, Text, Resources], dict[str, np.ndarray | pa.Array]]  # of original and transformed text
    inputs: Callable[[Resources], Any] = _no_inputs  # what the values depend on besides the text, JSON-able


@dataclass(frozen=True, eq=False)
class Family:
    """Signals whose names recipes make up: those that begin with `prefix`.

    `measure` provides one of them by its name. Without it, values come with the records: `measure` is given them.
    """

    prefix: str
    signal: Callable[[str], Signal]  # by name
    measure: Callable[[str], Measure] | None = None
    names: tuple[str, ...] = ()  # of all of them, where recipes choose and do not make them up


class Signals(dict[str, Signal]):
    """Signals by name; those of families are there for whoever asks, and are not listed."""

    def __init__(self, signals: Iterable[Signal], families: Sequence[Family]) -> None:
        super().__init__((signal.name, signal) for signal in signals)
        self._families = families

    def family(self, name: str) -> Family | None:
        """The family whose name this is."""
        return next((family for family in self._families if name.startswith(family.prefix)), None)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self.family(name) is not None)

    def __missing__(self, name: str) -> Signal:
        family = self.family(name)
        if family is None:
            raise KeyError(name)
        return family.signal(name)
