"""Values of Arrow columns as Python values, of every type and whatever they hold."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from zydaflow.sources.values import as_text

IMPOSSIBLE = (ValueError, TypeError, OverflowError, pa.ArrowException)  # as conversions fail; the first is UTF-8's too


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings, whatever their layout; a column of nulls counts as well."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_text(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(test(kind) for test in tests)


def as_strings(values: Iterable[Any], convert: Callable[[Any], str | None], reasons: dict[int, str]) -> pa.StringArray:
    """`convert` of each value; null where it is impossible, and `reasons` says why under the index."""
    strings = []
    for i, value in enumerate(values):
        string = None
        try:
            string = convert(value)
        except IMPOSSIBLE as error:
            reasons[i] = str(error)
        strings.append(string)
    return pa.array(strings, pa.string())


def python_values(column: pa.Array, reasons: dict[int, str]) -> tuple[list[Any], np.ndarray]:
    """The values of a column, and bool[n]: in which of them invalid UTF-8 became U+FFFD.

    Maps are dicts by the text of their keys, of which the last of several equal ones counts. A date or time that
    Python cannot hold is text, as Arrow writes it. What is impossible still is None, and `reasons` says why.
    """
    changed = np.zeros(len(column), np.bool_)
    if not _holds_map(column.type):
        try:
            return column.to_pylist(), changed
        except IMPOSSIBLE:
            pass  # one value is enough: now each by itself
    values = []
    for i, scalar in enumerate(column):
        value = None
        try:
            value, changed[i] = _repaired(scalar)
        except IMPOSSIBLE as error:
            reasons[i] = f"a value of type {column.type} cannot be read: {error}"
        values.append(value)
    return values, changed


def _holds_map(kind: pa.DataType) -> bool:
    return pa.types.is_map(kind) or any(_holds_map(kind.field(i).type) for i in range(kind.num_fields))


def _repaired(scalar: pa.Scalar) -> tuple[Any, bool]:
    try:
        return _value(scalar, "strict"), False
    except UnicodeDecodeError:
        return _value(scalar, "replace"), True


def _value(scalar: pa.Scalar, errors: str) -> Any:
    """The value; `errors` says what becomes of invalid UTF-8, as in `bytes.decode`."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if is_text(kind):
        return _unwrapped(scalar).as_buffer().to_pybytes().decode("utf-8", errors)
    if isinstance(scalar, pa.StructScalar):
        return {kind.field(i).name: _value(scalar[i], errors) for i in range(kind.num_fields)}
    if isinstance(scalar, pa.MapScalar):
        return {_key(item["key"], errors): _value(item["value"], errors) for item in scalar.values}
    if isinstance(scalar, pa.ListScalar):
        return [_value(value, errors) for value in scalar.values]
    if pa.types.is_temporal(kind):
        return _moment(scalar)
    return scalar.as_py()


def _unwrapped(scalar: pa.Scalar) -> pa.Scalar:
    """The string itself, of a dictionary or an extension type."""
    return _unwrapped(scalar.value) if isinstance(scalar, (pa.DictionaryScalar, pa.ExtensionScalar)) else scalar


def _key(scalar: pa.Scalar, errors: str) -> str:
    """The key of a map as text: a number as JSON, bytes in base64, a struct as a JSON object."""
    text = as_text(_value(scalar, errors))
    return "null" if text is None else text


def _moment(scalar: pa.Scalar) -> Any:
    """A date, time or duration: as Python's, else ISO 8601 as text (UTC), or the number where Arrow has none either."""
    try:
        return scalar.as_py()
    except IMPOSSIBLE:
        if pa.types.is_timestamp(scalar.type) and scalar.type.tz:
            scalar = scalar.cast(pa.timestamp(scalar.type.unit, "UTC"))  # the zone may be unknown
        text = scalar.cast(pa.string()).as_py()
        return str(scalar.value) if text.startswith("<") else text.replace(" ", "T")
