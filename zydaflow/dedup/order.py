"""Values by which copies are chosen: what they are, and how they rank."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Context, Decimal
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

VALUE = pa.struct([("number", pa.float64()), ("rest", pa.float64()), ("text", pa.string())])
"""A value is a number or a text, or neither. A number is `number` + `rest`, so whole ones are exact up to 2^106."""

DATES = "ISO 8601, RFC 2822, and numbers of seconds, milliseconds, microseconds or nanoseconds since 1970"
"""The forms of dates that `dates` reads."""

_EXACT = Context(prec=400)  # digits: more than a decimal below and the double nearest to it differ in
_DECIMAL = re.compile(r"[+-]?[0-9]{1,80}(\.[0-9]{1,80})?(E[+-]?[0-9]{1,2})?")  # str of a Decimal
_DURATION = re.compile(r"(?:(-?\d{1,9}) days?, )?(\d{1,2}):(\d\d):(\d\d(?:\.\d{1,6})?)")  # str of a timedelta
_EPOCH = re.compile(r"-?(\d{9,13}|\d{16}|\d{19})(\.\d+)?")  # longer than any date without separators
# From where on a number counts 10^-9, 10^-6, 10^-3 of a second, all from 1973 on.
_UNITS = ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3))


def values(items: Iterable[Any]) -> pa.StructArray:
    """Anything that JSON holds as VALUE: numbers, true and false as numbers, texts; everything else is no value.

    A text that is a decimal number counts as that, since so are decimals kept in metadata, and a duration
    (`[D days, ]H:MM:SS`) as its seconds.
    """
    numbers, rests, texts = [], [], []
    for item in items:
        number = _number(item)
        nearest, rest = (None, None) if number is None else _parts(number)
        numbers.append(nearest)
        rests.append(rest)
        texts.append(item if number is None and isinstance(item, str) else None)
    return _struct(pa.array(numbers, pa.float64()), pa.array(rests, pa.float64()), pa.array(texts, pa.string()))


def _struct(*fields: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays(fields, fields=list(VALUE))


def _number(item: Any) -> int | float | Decimal | None:
    """The number that an item is, or stands for, exactly."""
    if isinstance(item, bool | int | float):
        return item
    if not isinstance(item, str):
        return None
    if _DECIMAL.fullmatch(item):
        return Decimal(item)
    if found := _DURATION.fullmatch(item):
        days, hours, minutes, seconds = (Decimal(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return None


def _parts(number: float | Decimal) -> tuple[float, float]:
    """The nearest double, and how much larger the number is; a whole one beyond all doubles is infinite."""
    try:
        nearest = float(number)
    except OverflowError:
        return (math.inf if number > 0 else -math.inf), 0.0
    if isinstance(number, float):
        return nearest, 0.0
    if isinstance(number, Decimal):
        return nearest, float(_EXACT.subtract(number, Decimal(nearest)))
    return nearest, float(number - int(nearest))


def dates(items: Iterable[Any]) -> pa.StructArray:
    """Dates in any of the forms `DATES` as VALUE: seconds since 1970 UTC; what is in none has no value.

    Without a time zone they are UTC. ISO 8601 may be a year or a month alone. Numbers, also as text of 9 digits or
    more, are seconds below 10^11, milliseconds below 10^14, microseconds below 10^17, else nanoseconds. Where day and
    month could be either (01/02/2020), nothing is guessed.
    """
    return values(map(_seconds, items))


def unread_dates(items: Iterable[Any]) -> list[str]:
    """The items that are something and no date, as far as one likes to read them."""
    return [str(item)[:40] for item in items if item is not None and item != "" and _seconds(item) is None]


def _seconds(item: Any) -> float | None:
    if isinstance(item, str):
        return _seconds_of(item.strip())
    if isinstance(item, bool) or not isinstance(item, int | float):
        return None
    try:
        return item / next((unit for least, unit in _UNITS if abs(item) >= least), 1)
    except OverflowError:  # a whole number beyond all doubles
        return None


def _seconds_of(text: str) -> float | None:
    if _EPOCH.fullmatch(text):
        return _seconds(float(text))
    if len(text) in (4, 7):  # YYYY, YYYY-MM
        text += "-01-01"[: 10 - len(text)] if len(text) == 4 else "-01"
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            when = read(text)
        except ValueError:
            continue
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return None


def column(array: pa.Array) -> pa.StructArray:
    """A column of numbers or texts as VALUE."""
    none = pa.nulls(len(array), pa.float64())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return _struct(none, none, array.cast(pa.string()))
    return _struct(array.cast(pa.float64(), safe=False), none, pa.nulls(len(array), pa.string()))


def ranks(items: pa.StructArray, ascending: bool) -> np.ndarray:
    """int64 (n,): where each value comes in keeper order, equal ones alike; those that are none come last.

    Numbers come before texts, texts in the order of their code points; `ascending` has the smallest of each first.
    """
    place = np.full(len(items), 2 * len(items) + 2, np.int64)
    number, text = items.field("number"), items.field("text")
    numbers = np.flatnonzero(pc.invert(pc.is_null(number, nan_is_null=True)).to_numpy(zero_copy_only=False))
    if len(numbers):
        at = pa.array(numbers)
        rest = pc.fill_null(items.field("rest").take(at), 0.0)
        place[numbers] = _rank_numbers(number.take(at).to_numpy(), rest.to_numpy(), ascending)
    texts = np.flatnonzero(pc.is_valid(text).to_numpy(zero_copy_only=False))
    if len(texts):
        order = "ascending" if ascending else "descending"
        rank = pc.rank(text.take(pa.array(texts)), order, tiebreaker="dense")
        place[texts] = len(items) + 1 + rank.to_numpy()
    return place


def _rank_numbers(number: np.ndarray, rest: np.ndarray, ascending: bool) -> np.ndarray:
    """int64 (n,), from 1: the place of each number + rest among the different ones."""
    order = np.lexsort((rest, number))
    earlier, later = order[:-1], order[1:]
    differs = (number[earlier] != number[later]) | (rest[earlier] != rest[later])
    place = np.empty(len(order), np.int64)
    place[order] = 1 + np.append(0, np.cumsum(differs))
    return place if ascending else place.max() + 1 - place
