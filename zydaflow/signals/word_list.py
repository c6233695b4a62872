"""Lists of words and substrings, read from files."""

import json
import re
from typing import Any, NamedTuple

from zydaflow.errors import InputError
from zydaflow.storage import path_of

_ANCHORED = re.compile(r"((?:[^\\]|\\.)*?)(?:\\s\*)?\$", re.DOTALL)  # what precedes `$` is whole: `\$` is no anchor


class Entry(NamedTuple):
    """What an entry of a list matches: a literal, at the document's end only if anchored."""

    literal: str
    anchored: bool


def read_list(path: str) -> list[Entry]:
    """The entries of a list, in order, doubles kept.

    A `.json` file holds a list of strings or {"words": [...]}; any other file is text with an entry on each line that
    is not blank, spaces at its ends included. Raises InputError, which names the path, for any other content.
    """
    entries = _strings(path)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, str) or not parse_entry(entry).literal:
            raise InputError(f"word list {path}: entry {number} is {entry!r}; an entry must be text, and not empty")
    return [parse_entry(entry) for entry in entries]


def read_words(path: str) -> list[str]:
    """The words and phrases of a list, taken as they are but for white space at their ends, in order, doubles kept.

    Files and errors are those of `read_list`.
    """
    entries = _strings(path)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, str) or not entry.strip():
            raise InputError(f"word list {path}: entry {number} is {entry!r}; an entry must be text, and not empty")
    return [entry.strip() for entry in entries]


def parse_entry(entry: str) -> Entry:
    """An entry in the form of MADLAD-400's lists: a final `$` or `\\s*$` stands for the end of the document, after any
    white space; a backslash before a character is dropped; all else is literal."""
    anchored = _ANCHORED.fullmatch(entry)
    return Entry(re.sub(r"\\(.)", r"\1", anchored[1] if anchored else entry, flags=re.DOTALL), anchored is not None)


def _strings(path: str) -> list[Any]:
    try:
        text = path_of(path).read_text(encoding="utf-8-sig")
        content = json.loads(text) if path.endswith(".json") else [line for line in text.split("\n") if line.strip()]
    except OSError as error:
        raise InputError(f"word list {path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise InputError(f"word list {path}: {error}") from error
    if isinstance(content, dict):
        content = content.get("words")
    if not isinstance(content, list) or not content:
        raise InputError(f'word list {path}: must hold a list of strings or {{"words": [...]}}, not empty')
    return content
