"""What a signal is, and the measure that provides it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from zydaflow.kernels.text import Text
from zydaflow.signals.resources import Resources

Kind = Literal["integer", "fraction", "number", "label"]
_TYPES = {"integer": pa.int64(), "fraction": pa.float64(), "number": pa.float64(), "label": pa.string()}


@dataclass(frozen=True, eq=False)
class Signal:
    """A value measured on a document, under a name whose meaning never changes."""

    name: str
    kind: Kind
    unit: str
    specification: str  # one sentence
    source: str
    bins: np.ndarray  # float64: increasing edges, the same for every run, so that histograms add; none for labels

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
