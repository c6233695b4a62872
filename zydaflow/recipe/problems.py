"""What pydantic found wrong, in words for the person who wrote the recipe."""

import json
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from zydaflow.recipe.model import Recipe
from zydaflow.recipe.yamltext import Key, key_text

_WORDING = {
    "missing": "is missing",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "cannot be used as a name",
}
_PLAINER = {
    "Input should be": "must be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}


def problems(error: ValidationError, place: Callable[[Key], str]) -> str:
    """One line per error: `PLACE: KEY: what is wrong: what to do`. `place` tells where a key was given."""
    lines = []
    for details in error.errors():
        key = tuple(part for part in details["loc"] if part != "[key]" and not str(part).startswith("<"))
        lines.append(f"{place(key)}{key_text(key) or 'the recipe'}: {_message(details, key)}")
    return "\n".join(dict.fromkeys(lines))


def _message(details: ErrorDetails, key: Key) -> str:
    kind, value = details["type"], details["input"]
    if kind in ("recipe", "value_error"):
        return details["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden":
        known = [name for fields in _fields_at(key[:-1]) for name in fields]
        return f"unknown key; {_suggestion(str(key[-1]), known)}"
    message = _wording(details)
    if kind == "literal_error":
        allowed = re.findall("'([^']*)'", details["ctx"]["expected"])
        return f"{message}; {_suggestion(str(value), allowed)}"
    if kind == "string_type" and isinstance(value, int | float):
        return f"{message}; put it in quotes"
    field = _field_at(key)
    return f"{message} ({field.description})" if field else message


def _wording(details: ErrorDetails) -> str:
    message = _WORDING.get(details["type"], details["msg"])
    for stiff, plain in _PLAINER.items():
        message = message.replace(stiff, plain)
    return message if details["type"] == "missing" else f"{message}, not {_shown(details['input'])}"


def _suggestion(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fields_at(key: Key) -> list[dict[str, FieldInfo]]:
    """The fields that the part of the recipe at `key` may have: of several models where several are allowed."""
    models: list[type[BaseModel]] = [Recipe]
    for name in (part for part in key if isinstance(part, str)):
        fields = [model.model_fields[name] for model in models if name in model.model_fields]
        if fields:  # else it is a name that the recipe makes up, of what is named
            models = [model for field in fields for model in _models_in(field.annotation)]
    return [dict(model.model_fields) for model in models]


def _field_at(key: Key) -> FieldInfo | None:
    *above, name = key or ("",)
    return next((fields[name] for fields in _fields_at(tuple(above)) if name in fields), None)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
