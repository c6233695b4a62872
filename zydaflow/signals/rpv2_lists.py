"""RedPajama-V2's signals (arXiv 2411.12372) of lists of words."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.kernels import pieces
from zydaflow.kernels.automaton import Automaton, Pattern, build
from zydaflow.kernels.characters import SPACE, WORD, character_classes
from zydaflow.kernels.phrases import count_standing
from zydaflow.kernels.text import Text, from_arrow, to_arrow
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.rpv2 import share, signal
from zydaflow.signals.rpv2_words import normal_form
from zydaflow.signals.signal import Measure
from zydaflow.signals.word_list import read_words


class _List(NamedTuple):
    """Different words or phrases, to be found."""

    entries: tuple[str, ...]
    automaton: Automaton
    lengths: np.ndarray  # int64: of the entries, in characters

    @property
    def digest(self) -> str:
        return xxhash.xxh3_128_hexdigest(repr(self.entries).encode())


def _list(entries: Sequence[str]) -> _List:
    different = sorted(set(entries))
    patterns = [Pattern(entry.encode(), 0) for entry in different] or [Pattern(b"\xff", 0)]  # which no text has
    return _List(tuple(different), build(patterns), np.array([len(entry) for entry in different] or [1]))


@lru_cache(maxsize=4)
def _stop_words(path: str) -> _List:
    """The entries that a piece can be."""
    return _list([entry for entry in read_words(path) if re.fullmatch(r"\w+", entry)])


@lru_cache(maxsize=4)
def _bad_words(path: str) -> _List:
    """The entries in normal form, as the words are that they are looked for in."""
    entries = normal_form(from_arrow(pa.array(read_words(path), pa.large_string())))
    return _list([entry for entry in to_arrow(entries).to_pylist() if entry])


@cache
def _as_it_is() -> np.ndarray:
    letters = np.arange(0x110000, dtype=np.uint32)
    letters.flags.writeable = False
    return letters


@cache
def _between_spaces() -> np.ndarray:
    """Classes in which all but white space is part of a word."""
    classes = np.where(character_classes() & SPACE, SPACE, WORD).astype(np.uint8)
    classes.flags.writeable = False
    return classes


def _stops(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    _, automaton, lengths = _stop_words(resources.stop_words)
    found = count_standing(*transformed, automaton, lengths, _as_it_is(), character_classes())
    counts = pieces.count_pieces(*transformed, character_classes(), pieces.cases())
    return {"rpv2.stop_word_fraction": ratio(found, counts[:, pieces.PIECES])}


def _bad(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    _, automaton, lengths = _bad_words(resources.bad_words)
    found = count_standing(*normal_form(transformed), automaton, lengths, _as_it_is(), _between_spaces())
    return {"rpv2.bad_word_count": found}


def _stop_inputs(resources: Resources) -> Any:
    return _stop_words(resources.stop_words).digest


def _bad_inputs(resources: Resources) -> Any:
    return _bad_words(resources.bad_words).digest


STOP_WORDS = Measure(
    "rpv2.stop_words",
    1,
    (
        share(
            "stop_word_fraction",
            "words",
            "Pieces (\\w+|[^\\w\\s]+) that the list stop_words has, case included, over all.",
        ),
    ),
    _stops,
    _stop_inputs,
)

BAD_WORDS = Measure(
    "rpv2.bad_words",
    1,
    (
        signal(
            "bad_word_count",
            "integer",
            "matches",
            "Places where words in a row are an entry of the list bad_words, both after deletion of ASCII punctuation, "
            "lower case and NFD.",
            bins.COUNTS,
        ),
    ),
    _bad,
    _bad_inputs,
)
