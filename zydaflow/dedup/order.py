"""Values by which copies are chosen: what they are, and how they rank."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

VALUE = pa.struct([("number", pa.float64()), ("text", pa.string())])
"""A value is a number or a text, or neither."""


def values(items: Iterable[Any]) -> pa.StructArray:
    """Anything that JSON holds as VALUE: numbers, true and false as numbers, texts; everything else is no value."""
    numbers, texts = [], []
    for item in items:
        numbers.append(_number(item) if isinstance(item, bool | int | float) else None)
        texts.append(item if isinstance(item, str) else None)
    return pa.StructArray.from_arrays(
        [pa.array(numbers, pa.float64()), pa.array(texts, pa.string())], fields=list(VALUE)
    )


def _number(item: float) -> float:
    try:
        return float(item)
    except OverflowError:  # a whole number beyond all doubles
        return math.inf if item > 0 else -math.inf


def dates(items: Iterable[Any]) -> pa.StructArray:
    """Dates as VALUE: seconds since 1970 UTC, from ISO 8601, years and months, or numbers of seconds."""
    return values(map(_seconds, items))


def _seconds(item: Any) -> float | None:
    """An ISO 8601 date without a time zone is UTC; a text that is none has no value."""
    if not isinstance(item, str):
        return item if isinstance(item, int | float) and not isinstance(item, bool) else None
    text = item.strip()
    if len(text) in (4, 7):  # YYYY, YYYY-MM
        text += "-01-01"[: 10 - len(text)] if len(text) == 4 else "-01"
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def column(array: pa.Array) -> pa.StructArray:
    """A column of numbers or texts as VALUE."""
    none = pa.nulls(len(array), pa.float64()), pa.nulls(len(array), pa.string())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return pa.StructArray.from_arrays([none[0], array.cast(pa.string())], fields=list(VALUE))
    return pa.StructArray.from_arrays([array.cast(pa.float64(), safe=False), none[1]], fields=list(VALUE))


def ranks(items: pa.StructArray, ascending: bool) -> np.ndarray:
    """int64 (n,): where each value comes in keeper order, equal ones alike; those that are none come last.

    Numbers come before texts, texts in the order of their code points; `ascending` has the smallest of each first.
    """
    number, text = items.field("number"), items.field("text")
    order = "ascending" if ascending else "descending"
    place = np.full(len(items), 2 * len(items) + 2, np.int64)
    for first, part in ((0, number), (len(items) + 1, text)):
        valid = pc.is_valid(part)
        if pa.types.is_floating(part.type):
            valid = pc.and_kleene(valid, pc.invert(pc.fill_null(pc.is_nan(part), True)))
        there = np.flatnonzero(valid.to_numpy(zero_copy_only=False))
        if len(there):
            place[there] = first + pc.rank(part.take(pa.array(there)), order, tiebreaker="dense").to_numpy()
    return place
