"""Values of any type as exact text: ids, licences, and the metadata of a record as one strict JSON object."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPES = (bool, int, float, list, dict, orjson.Fragment)


def parse_exactly(line: bytes) -> tuple[Any, bool]:
    """A JSON value that orjson refuses or would round, and whether invalid UTF-8 in it became U+FFFD.

    Numbers keep their literal text (as `orjson.Fragment`), NaN and infinities become null, lone surrogates stay.
    Raises ValueError or RecursionError with the parser's message.
    """
    try:
        text, broken = line.decode(), False
    except UnicodeDecodeError:
        text, broken = line.decode("utf-8", "replace"), True
    fragment = orjson.Fragment
    return json.loads(text, parse_int=fragment, parse_float=fragment, parse_constant=lambda _: None), broken


def without_surrogates(value: Any) -> Any:
    """The JSON value with U+FFFD for each lone surrogate; the value itself where there is none."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    return value


def as_text(value: Any) -> str | None:
    """An id or a licence as text: strings as they are, null and NaN as None, numbers and nested values as JSON."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, _JSON_TYPES):
        return str(_plain(value))
    text = _dump(value)
    return None if text == "null" else text


def as_metadata(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """The named values of a record as one strict JSON object with sorted keys.

    What is absent, NaN or infinite is null; dates and times are ISO 8601, bytes base64, decimals strings.
    Raises ValueError where a value is nested deeper than 254 levels.
    """
    return _dump({name: record.get(name) for name in names})


def _dump(value: Any) -> str:
    try:
        data = orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError as error:
        raise ValueError(f"a value cannot be kept as JSON: {error}") from error
    return data.decode()  # at once: orjson's short results, kept, hold on to kilobytes each


def _plain(value: Any) -> Any:
    """A JSON value for what JSON has no type for."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)
