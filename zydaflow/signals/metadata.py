"""Values of columns that records carry in their metadata, as signals that rules go by."""

import json
from collections.abc import Iterable
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.dedup import order
from zydaflow.signals import bins
from zydaflow.signals.signal import Family, Signal

NUMBER, TEXT = "metadata.number.", "metadata.text."


def number(column: str) -> str:
    """The signal that a column's numbers are."""
    return NUMBER + column


def text(column: str) -> str:
    """The signal that a column's texts are."""
    return TEXT + column


def column(signal: str) -> str | None:
    """The column that a signal is from; None for one that is from none."""
    return next((signal.removeprefix(prefix) for prefix in (NUMBER, TEXT) if signal.startswith(prefix)), None)


def parsed(record: str) -> dict[str, Any]:
    """A record's metadata; a number that is no double becomes infinite, or whole however long."""
    try:
        return orjson.loads(record)
    except orjson.JSONDecodeError:
        return json.loads(record)


def numbers(values: Iterable[Any]) -> pa.Array:
    """float64: numbers, true and false as 1 and 0, and texts that are decimal numbers; all else is null."""
    found = order.values(values).field("number")
    return pc.if_else(pc.is_finite(found), found, None)


def texts(values: Iterable[Any]) -> pa.Array:
    """string: texts as they are, all else as JSON."""
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _number(name: str) -> Signal:
    return Signal(
        name,
        "number",
        "of the column",
        f"The number in the record's column {column(name)}, also one written as text; null where there is none.",
        "the records",
        bins.NUMBERS,
    )


def _text(name: str) -> Signal:
    return Signal(
        name,
        "text",
        "text of the column",
        f"The text in the record's column {column(name)}; what is no text, as JSON; null where there is nothing.",
        "the records",
        bins.NONE,
    )


NUMBERS = Family(NUMBER, _number)
TEXTS = Family(TEXT, _text)
