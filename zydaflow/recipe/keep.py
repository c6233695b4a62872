"""What decides between copies in one dataset: `NAME`, `NAME ascending` or `NAME descending`."""

from typing import NamedTuple

DIRECTIONS = ("ascending", "descending")


class KeepKey(NamedTuple):
    """A document's value by which it comes before another in keeper order."""

    name: str
    """of a signal or of a column that is carried along; or length, or date"""
    ascending: bool
    """whether the smallest value stays; a document without a value comes last in any case"""


def parse_keep(text: str) -> KeepKey:
    """Reads one key. Raises ValueError for one without a name."""
    name, _, direction = text.strip().rpartition(" ")
    if direction not in DIRECTIONS:
        name, direction = text.strip(), "descending"
    if not name.strip() or name in DIRECTIONS:
        raise ValueError(f"{text!r} has no name; write NAME, or NAME ascending")
    return KeepKey(name.strip(), direction == "ascending")
