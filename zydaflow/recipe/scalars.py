"""The forms of single values in a recipe: sizes in bytes, places of files, names of folders."""

import glob
import os.path
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

_UNITS = {
    "GB": 10**9,
    "GiB": 2**30,
    "MB": 10**6,
    "MiB": 2**20,
    "kB": 10**3,
    "KiB": 2**10,
}
_UNIT_OF = {unit.lower(): factor for unit, factor in _UNITS.items()} | {"b": 1, "": 1}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(value: Any) -> Any:
    """Bytes as an int from `512MB` (10⁶), `64MiB` (2²⁰) or a plain number; case and a space before the unit are free.

    What is not text is handed on as it is, for the model to judge. Raises ValueError for other text.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    factor = _UNIT_OF.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(
            f"{value!r} is not a size; write bytes, or a number with one of {', '.join(_UNITS)}, like 512MB"
        )
    return round(float(match[1]) * factor) if "." in match[1] else int(match[1]) * factor


def format_size(size: int) -> str | int:
    """The exact size with the largest unit that divides it: 512000000 → `512MB`; plain bytes where none does."""
    for unit, factor in sorted(_UNITS.items(), key=lambda item: -item[1]):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return size


def absolute_path(path: str) -> str:
    """A local path or glob from the current directory, `~` expanded; URLs, `hub:` and `installed:` are left alone.

    Of what can only be a glob, the folder put in front is escaped: wildcards in its name are none.
    """
    if "://" in path or path.startswith(("hub:", "installed:")):
        return path
    whole = os.path.abspath(os.path.expanduser(path))
    if not glob.has_magic(path) or os.path.exists(whole):
        return whole
    home, _, rest = path.partition("/") if path.startswith("~") else (".", "", path)
    return os.path.abspath(os.path.join(glob.escape(os.path.abspath(os.path.expanduser(home))), rest))


def path_or_hub_name(value: str) -> str:
    """An absolute path where `value` looks like a path or exists as one; else the hub name that it is.

    `owner/name` reads as a relative path too: what lies on disk under that name wins, as it does elsewhere.
    """
    is_path = value.startswith((".", "/", "~")) or value.endswith(".json") or os.path.exists(value)
    return absolute_path(value) if is_path else value


Size = Annotated[
    int, BeforeValidator(parse_size), Field(gt=0), PlainSerializer(format_size, return_type=str | int, when_used="json")
]
LocalPath = Annotated[str, Field(min_length=1), AfterValidator(absolute_path)]
PathOrHubName = Annotated[str, Field(min_length=1), AfterValidator(path_or_hub_name)]
FolderName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
SignalName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]  # the part after a family's dot
