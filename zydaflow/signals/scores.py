"""Scores: signals whose values come from the recipe's own functions, before all others are measured."""

from collections.abc import Iterable

from zydaflow.signals import bins
from zydaflow.signals.signal import Family, Signal

PREFIX = "scorer."


def _score(name: str) -> Signal:
    return Signal(
        name,
        "number",
        "of the function",
        f"What the function of the recipe's scorers.{name.removeprefix(PREFIX)} gives for the transformed text; null "
        "for a text that is null or blank, that it gives no finite number for, or that it fails on.",
        "the recipe",
        bins.NUMBERS,
    )


SCORES = Family(PREFIX, _score)


def measured(names: Iterable[str]) -> tuple[str, ...]:
    """The signals that are no scores, in their order."""
    return tuple(name for name in names if not name.startswith(PREFIX))
