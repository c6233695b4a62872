"""What all parts of a recipe have in common."""

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Name = Annotated[str, Field(min_length=1)]
Names = tuple[Name, ...]


def not_empty(items: tuple) -> tuple:
    """Pydantic's own check would also complain of a list whose items are wrong."""
    if not items:
        raise ValueError("must not be empty")
    return items


class Part(BaseModel):
    """A mapping of the recipe: unknown keys are refused, values are not converted from other types."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def wrong(key: str, message: str, value: Any) -> ValidationError:
    """An error at `key` (KEY or KEY.KEY…) of the part that is being validated, where pydantic alone names the part."""
    error = PydanticCustomError("recipe", "{message}", {"message": message})
    details = InitErrorDetails(type=error, loc=tuple(key.split(".")), input=value)
    return ValidationError.from_exception_data("recipe", [details])


def plain(value: Any) -> Any:
    """Lists as tuples and paths as text, all the way down: the models are frozen and convert nothing."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else value
