"""The ways to find words in a text. Each signal of words exists for every one."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import xxhash

from zydaflow.kernels.text import Text
from zydaflow.kernels.word_breaks import break_classes, split_by_unicode
from zydaflow.kernels.words import Words, split, split_by_script
from zydaflow.signals.resources import Resources


class Splitter(NamedTuple):
    """A way to find words. The names of its signals end with its suffix."""

    suffix: str
    words: str  # what words are, at the end of a specification
    split: Callable[[Text], Words]
    inputs: Callable[[Resources], Any]  # of its measures


def _nothing(resources: Resources) -> Any:
    return None


@cache
def _digest() -> str:
    return xxhash.xxh3_128_hexdigest(break_classes().tobytes())


def _properties(resources: Resources) -> Any:
    return {"word_break": _digest()}


SPLITTERS = (
    Splitter("", "words stand between white space", split, _nothing),
    Splitter(
        ".unicode",
        "words are the segments between Unicode's word boundaries (UAX #29) that hold a letter or a number",
        split_by_unicode,
        _properties,
    ),
    Splitter(
        ".script",
        "words stand between white space, but each character of a script without spaces between words is one",
        split_by_script,
        _nothing,
    ),
)
