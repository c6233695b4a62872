"""The end of a message about an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches

LISTED = 12  # names: a longer list helps nobody


def nearest(name: str, known: Iterable[str], told: str | None = None) -> str:
    """`; did you mean X?` if a known name is near, else what there is: `told`, or the names, the first of many."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    if not names:
        return "; there are none"
    if not near and told:
        return f"; there are: {told}"
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(names[:LISTED])}{more}"
