"""The end of a message about an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?` if a known name is near, else the list of those that there are."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(names)}"
