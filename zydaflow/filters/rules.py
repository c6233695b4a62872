"""A rule says which documents are removed, by one bound on one column; a composite says it by several rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Test = Literal["min", "max", "allow", "deny"]

LANGUAGE = "language"  # the signal that rules of some languages go by


@dataclass(frozen=True)
class Rule:
    """Removes a document whose value is below a `min`, above a `max`, none of an `allow`, or one of a `deny`.

    Where the value is null, the rule does not apply; only with `known` a null is removed as well. With `folded`, labels
    are compared without regard to case and to spaces around them. A rule may be for documents of some languages only,
    or for all but those; a document whose language is undetermined is of none.
    """

    name: str  # what a verdict names it by, like `n_words.min`
    signal: str  # the column: a signal, or `license`
    test: Test
    bound: float | tuple[str, ...]  # a number, in the signal's unit, for min and max; else labels
    known: bool = False
    folded: bool = False
    only: tuple[str, ...] = ()  # labels of languages; none for all
    but: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return (self.signal, LANGUAGE) if self.only or self.but else (self.signal,)

    def applies(self, table: pa.RecordBatch | pa.Table) -> np.ndarray:
        """To which of n documents the rule applies: bool[n]."""
        column = table[self.signal]
        applies = np.ones(len(column), bool) if self.known else _numpy(column.is_valid())
        if self.only:
            applies = applies & _is_in(table[LANGUAGE], self.only)
        return applies & ~_is_in(table[LANGUAGE], self.but) if self.but else applies

    def breaks(self, column: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Which of n values the rule removes, of documents to which it applies: bool[n]."""
        if self.test == "min":
            broken = pc.less(column, self.bound)
        elif self.test == "max":
            broken = pc.greater(column, self.bound)
        else:
            labels = pa.array(self.bound, pa.string())
            listed = pc.is_in(_folded(column), _folded(labels)) if self.folded else pc.is_in(column, labels)
            broken = pc.if_else(column.is_valid(), listed if self.test == "deny" else pc.invert(listed), None)
        return _numpy(broken.fill_null(self.known))

    def removes(self, table: pa.RecordBatch | pa.Table) -> np.ndarray:
        """Which of n documents the rule removes: bool[n]. `table` has its columns."""
        broken = self.breaks(table[self.signal])
        return broken & self.applies(table) if self.only or self.but else broken

    def within(self) -> Iterator["AnyRule"]:
        """No other rules."""
        return iter(())

    def values(self, table: pa.RecordBatch | pa.Table) -> list[Any]:
        """Of each document the value that the rule goes by."""
        return table[self.signal].to_pylist()

    def to_json(self) -> dict[str, Any]:
        """The rule as strict JSON: part of fingerprints and of statistics."""
        scope = {name: list(labels) for name in ("only", "but") if (labels := getattr(self, name))}
        whole = {**vars(self), "bound": list(self.bound) if isinstance(self.bound, tuple) else self.bound}
        return {name: value for name, value in whole.items() if name not in ("only", "but")} | scope


@dataclass(frozen=True)
class Composite:
    """Removes a document that breaks any, or one that breaks all, of the rules in it, which are called NAME.RULE."""

    name: str
    test: Literal["any", "all"]
    parts: tuple["Rule | Composite", ...]  # at least one

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return tuple(dict.fromkeys(column for part in self.parts for column in part.columns))

    def applies(self, table: pa.RecordBatch | pa.Table) -> np.ndarray:
        """To which of n documents it applies, as any, or all, of its rules do: bool[n]."""
        return self._together([part.applies(table) for part in self.parts])

    def removes(self, table: pa.RecordBatch | pa.Table) -> np.ndarray:
        """Which of n documents it removes: bool[n]."""
        return self._together([part.removes(table) for part in self.parts])

    def _together(self, masks: list[np.ndarray]) -> np.ndarray:
        return np.any(masks, axis=0) if self.test == "any" else np.all(masks, axis=0)

    def values(self, table: pa.RecordBatch | pa.Table) -> list[str]:
        """Of each document the values that it goes by, with their names, as text."""
        columns = [[f"{name} {value}" for value in table[name].to_pylist()] for name in self.columns]
        return [", ".join(row) for row in zip(*columns, strict=True)]

    def within(self) -> Iterator["AnyRule"]:
        """The rules in it, those in its composites too."""
        for part in self.parts:
            yield part
            yield from part.within()

    def to_json(self) -> dict[str, Any]:
        """As strict JSON: part of fingerprints and of statistics."""
        return {"name": self.name, "test": self.test, "parts": [part.to_json() for part in self.parts]}


AnyRule = Rule | Composite


def _numpy(mask: pa.Array | pa.ChunkedArray) -> np.ndarray:
    return mask.to_numpy(zero_copy_only=False) if isinstance(mask, pa.Array) else mask.to_numpy()


def _is_in(column: pa.Array | pa.ChunkedArray, labels: tuple[str, ...]) -> np.ndarray:
    return _numpy(pc.is_in(column, pa.array(labels, pa.string())))


def _folded(labels: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.utf8_lower(pc.utf8_trim_whitespace(labels))


def judge(table: pa.RecordBatch | pa.Table, rules: Sequence[AnyRule]) -> np.ndarray:
    """Which rule each of n documents breaks: bool[n, rules], True = broken. `table` has the columns of the rules."""
    broken = np.empty((table.num_rows, len(rules)), bool)
    for number, rule in enumerate(rules):
        broken[:, number] = rule.removes(table)
    return broken


def reasons(
    table: pa.RecordBatch | pa.Table, rules: Sequence[AnyRule], broken: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """What a verdict names: (names, bool[n, names]), from what `judge` gives.

    After a composite that a document breaks come those of its rules that the document breaks.
    """
    names, columns = [], []
    for rule, breaks in zip(rules, broken.T, strict=True):
        names.append(rule.name)
        columns.append(breaks)
        for part in rule.within():
            names.append(part.name)
            columns.append(breaks & part.removes(table))
    return names, np.column_stack(columns) if columns else np.empty((len(broken), 0), bool)
