"""What another tool measures, where it only says whether a document passes, and how it compares with ours."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from zydaflow import signals
from zydaflow.signals import Resources


class Probe(np.float64):
    """A threshold that nothing breaks and that keeps what is compared with it.

    A subclass of a number, because then Python asks it first, even where it stands on the right.
    """

    seen: list[float]

    def __new__(cls) -> "Probe":
        probe = super().__new__(cls, 1.0)
        probe.seen = []
        return probe

    def _keep(self, value: Any) -> bool:
        self.seen.append(float(value))
        return False

    __lt__ = __gt__ = _keep


def measure(texts: list[str], names: Iterable[str], resources: Resources | None = None) -> dict[str, list[float]]:
    """Our values, by signal."""
    column = pa.array(texts, pa.large_string())
    return signals.measure(list(names), column, column, resources or Resources()).to_pydict()


def columns(rows: list[dict[str, float]]) -> dict[str, list[float]]:
    """The values of documents, by signal."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def differences(
    texts: list[str], theirs: dict[str, list[float]], resources: Resources | None = None
) -> dict[str, list[str]]:
    """The texts in which a signal differs by more than rounding, by signal; nothing for signals that never do."""
    ours = measure(texts, theirs, resources)
    differ = {name: ~np.isclose(np.asarray(ours[name], float), theirs[name], rtol=1e-9, atol=0) for name in theirs}
    return {name: [texts[place] for place in np.flatnonzero(rows)] for name, rows in differ.items() if rows.any()}
