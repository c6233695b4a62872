"""RedPajama-V2's signals (arXiv 2411.12372) of the text as it is and of its lines, for whole documents."""

import numpy as np

from zydaflow.kernels import pieces, rpv2lines
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.decompose import decomposition
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Kind, Measure, Signal

SOURCE = "RedPajama-V2, arXiv 2411.12372"
CONSTANTS = (rpv2lines.ENDINGS, rpv2lines.BULLETS, rpv2lines.JAVASCRIPT)

_PIECES = "Pieces (\\w+|[^\\w\\s]+)"
_NORMAL = "after deletion of ASCII punctuation, lower case and NFD"
NORMAL_WORDS = f"words (between white space, {_NORMAL})"


def _pieces(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = pieces.count_pieces(*transformed, character_classes(), pieces.cases()).T
    characters, words = counts[pieces.CHARACTERS], counts[pieces.PIECES]
    return {
        "rpv2.sentence_count": counts[pieces.SENTENCES],
        "rpv2.symbol_to_word_ratio": ratio(counts[pieces.SYMBOLS], words),
        "rpv2.no_alphabetic_word_fraction": ratio(words - counts[pieces.ALPHABETIC], words),
        "rpv2.all_caps_word_fraction": ratio(counts[pieces.CAPITAL], words),
        "rpv2.curly_bracket_fraction": ratio(counts[pieces.BRACKETS], characters),
        "rpv2.uppercase_letter_fraction": ratio(counts[pieces.UPPERCASE], characters),
    }


def _lines(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    counts = rpv2lines.count_lines_of_web(*transformed, decomposition(), CONSTANTS).T
    lines, words, letters = counts[rpv2lines.LINES], counts[rpv2lines.WORDS], counts[rpv2lines.LETTERS]
    return {
        "rpv2.word_count": words,
        "rpv2.mean_word_length": ratio(letters, words),
        "rpv2.ellipsis_line_fraction": ratio(counts[rpv2lines.TRAILING], lines),
        "rpv2.terminal_punctuation_line_fraction": ratio(counts[rpv2lines.TERMINAL], lines),
        "rpv2.bullet_line_fraction": ratio(counts[rpv2lines.BULLETED], lines),
        "rpv2.javascript_line_fraction": ratio(counts[rpv2lines.SCRIPTED], lines),
        "rpv2.words_per_line": ratio(words, lines),
        "rpv2.numerical_character_fraction": ratio(counts[rpv2lines.NUMERIC], letters + counts[rpv2lines.SPACES]),
    }


def signal(name: str, kind: Kind, unit: str, specification: str, edges: np.ndarray) -> Signal:
    """One of RedPajama-V2's."""
    return Signal(f"rpv2.{name}", kind, unit, specification, SOURCE, edges)


def share(name: str, of: str, specification: str) -> Signal:
    """One that is a fraction of so many `of`."""
    return signal(name, "fraction", f"of {of}", specification, bins.SHARES)


PIECES = Measure(
    "rpv2.pieces",
    1,
    (
        signal(
            "sentence_count",
            "integer",
            "sentences",
            "Matches of \\b[^.!?]+[.!?]*: what the marks . ! ? separate, with a word character in it.",
            bins.SIZES,
        ),
        signal(
            "symbol_to_word_ratio",
            "number",
            "symbols per word",
            "Occurrences of #, ... and … over the number of pieces (\\w+|[^\\w\\s]+).",
            bins.SHARES,
        ),
        share("no_alphabetic_word_fraction", "words", f"{_PIECES} without a letter of ASCII over all."),
        share("all_caps_word_fraction", "words", f"{_PIECES} in upper case (str.isupper) over all."),
        share("curly_bracket_fraction", "characters", "{ and } over all characters."),
        share(
            "uppercase_letter_fraction",
            "characters",
            "Upper-case letters (str.isupper) over all characters, ends of lines included.",
        ),
    ),
    _pieces,
)

_OVER = "over all lines, blank ones too"

LINES = Measure(
    "rpv2.lines",
    1,
    (
        signal("word_count", "integer", "words", f"The number of {NORMAL_WORDS}.", bins.SIZES),
        signal("mean_word_length", "number", "characters", f"The mean length of {NORMAL_WORDS}.", bins.WORD_LENGTHS),
        share("ellipsis_line_fraction", "lines", f"Lines that end with ... or … before white space, {_OVER}."),
        share(
            "terminal_punctuation_line_fraction",
            "lines",
            f"Lines that end with . ! ? or ” before white space, {_OVER}.",
        ),
        share(
            "bullet_line_fraction",
            "lines",
            f"Lines that begin with one of • ‣ ▶ ◀ ◦ ■ □ ▪ ▫ – after white space, {_OVER}.",
        ),
        share(
            "javascript_line_fraction",
            "lines",
            f"Lines with a word that is javascript {_NORMAL}, {_OVER}.",
        ),
        signal(
            "words_per_line",
            "number",
            "words",
            f"Words between white space that have a character left {_NORMAL}, {_OVER}.",
            bins.SIZES,
        ),
        share(
            "numerical_character_fraction",
            "characters",
            f"Numeric characters (str.isnumeric) over all, of lines {_NORMAL} with single spaces between words.",
        ),
    ),
    _lines,
)
