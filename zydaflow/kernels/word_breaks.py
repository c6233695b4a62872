"""Words by Unicode's default word boundaries (UAX #29): the segments that hold a letter or a number."""

from functools import cache

import numpy as np
import regex
from numba import njit

from zydaflow.kernels.characters import WORD, character_classes
from zydaflow.kernels.text import Text
from zydaflow.kernels.utf8 import code_point
from zydaflow.kernels.words import Words

# Values of the property Word_Break. Of what ATTACHED holds, every character belongs to the one before it.
OTHER, CR, LF, NEWLINE, EXTEND, ZWJ, FORMAT, KATAKANA, HEBREW, LETTER = range(10)
SINGLE_QUOTE, DOUBLE_QUOTE, MID_NUM_LET, MID_LETTER, MID_NUM, NUMERIC, EXTEND_NUM_LET, REGIONAL, SPACE = range(10, 19)
PROPERTIES = (
    *("Other", "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Katakana", "Hebrew_Letter", "ALetter"),
    *("Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum", "Numeric", "ExtendNumLet"),
    *("Regional_Indicator", "WSegSpace"),
)
CLASS = 31  # the bits of the property
PICTURE = 32  # Extended_Pictographic
CONTENT = 64  # a letter or a number: str.isalnum()

# Whether there is a boundary between two characters, by their properties; what is attached to the first aside.
BREAK, JOIN, ADJACENT, PAIR, LETTER_AFTER, HEBREW_AFTER, NUMERIC_AFTER, LETTER_BEFORE, HEBREW_BEFORE, NUMERIC_BEFORE = (
    range(10)
)
"""JOIN: no. ADJACENT: no, if nothing is attached to the first. PAIR: no, if the second makes a pair. …_AFTER, …_BEFORE:
no, if such a character follows the second, or precedes the first."""


@cache
def break_classes() -> np.ndarray:
    """uint8[0x110000] by code point: the bits above, by the version of Unicode of the module regex."""
    everything = "".join(map(chr, range(0x110000)))
    classes = np.zeros(len(everything), np.uint8)
    for value, name in enumerate(PROPERTIES[1:], 1):
        for run in regex.finditer(rf"\p{{WB={name}}}+", everything):
            classes[run.start() : run.end()] = value
    for run in regex.finditer(r"\p{Extended_Pictographic}+", everything):
        classes[run.start() : run.end()] |= PICTURE
    classes[character_classes() & WORD != 0] |= CONTENT
    classes[ord("_")] &= ~np.uint8(CONTENT)
    classes.flags.writeable = False
    return classes


@cache
def _rules() -> np.ndarray:
    """uint8[19, 19]: what holds between two properties; the numbers are those of UAX #29."""
    rules = np.full((len(PROPERTIES), len(PROPERTIES)), BREAK, np.uint8)
    letters, quotes = [LETTER, HEBREW], [SINGLE_QUOTE, MID_NUM_LET]
    rules[CR, LF] = JOIN  # WB3
    rules[SPACE, SPACE] = ADJACENT  # WB3d
    rules[np.ix_(letters, [MID_LETTER, *quotes])] = LETTER_AFTER  # WB6
    rules[np.ix_([MID_LETTER, *quotes], letters)] = LETTER_BEFORE  # WB7
    rules[HEBREW, SINGLE_QUOTE] = JOIN  # WB7a
    rules[HEBREW, DOUBLE_QUOTE] = HEBREW_AFTER  # WB7b
    rules[DOUBLE_QUOTE, HEBREW] = HEBREW_BEFORE  # WB7c
    rules[np.ix_([*letters, NUMERIC], [*letters, NUMERIC])] = JOIN  # WB5, WB8 to WB10
    rules[np.ix_([MID_NUM, *quotes], [NUMERIC])] = NUMERIC_BEFORE  # WB11
    rules[np.ix_([NUMERIC], [MID_NUM, *quotes])] = NUMERIC_AFTER  # WB12
    rules[KATAKANA, KATAKANA] = JOIN  # WB13
    rules[[*letters, NUMERIC, KATAKANA, EXTEND_NUM_LET], EXTEND_NUM_LET] = JOIN  # WB13a
    rules[EXTEND_NUM_LET, [*letters, NUMERIC, KATAKANA]] = JOIN  # WB13b
    rules[REGIONAL, REGIONAL] = PAIR  # WB15, WB16
    rules.flags.writeable = False
    return rules


def split_by_unicode(text: Text) -> Words:
    """The segments between word boundaries that hold a letter or a number. They take 8 bytes each."""
    edges, bounds = _edges(*text, break_classes(), _rules())
    return Words(edges.reshape(-1, 2), bounds)


@njit(cache=True, nogil=True)
def _edges(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray, rules: np.ndarray) -> tuple:
    """Where words begin and end, in turn, and the bounds of the documents' words."""
    bounds = np.zeros(len(offsets), np.int64)
    # Two words that touch have three bytes at least: no two characters of ASCII that are content are apart.
    edges = np.empty((offsets[-1] - offsets[0]) * 4 // 3 + 2 * len(offsets), np.int32)
    for document in range(len(offsets) - 1):
        text = data[offsets[document] : offsets[document + 1]]
        used = _split_one(text, classes, rules, edges[2 * bounds[document] :])
        bounds[document + 1] = bounds[document] + used // 2
    return edges[: 2 * bounds[-1]], bounds


@njit(cache=True, nogil=True, inline="always")
def _attached(kind: int) -> bool:
    return kind in (EXTEND, ZWJ, FORMAT)


@njit(cache=True, nogil=True)
def _after(text: np.ndarray, at: int, classes: np.ndarray) -> int:
    """The property of the first character from text[at] on that is not attached to another; OTHER at the end."""
    while at < len(text):
        point, width = code_point(text, at)
        kind = classes[point] & CLASS
        if not _attached(kind):
            return kind
        at += width
    return OTHER


@njit(cache=True, nogil=True)
def _split_one(text: np.ndarray, classes: np.ndarray, rules: np.ndarray, edges: np.ndarray) -> int:
    used = at = start = 0
    content = paired = False
    touching = last = before = NEWLINE  # the properties of the character before, and of the last two not attached
    while at < len(text):
        point, width = code_point(text, at)
        role = classes[point]
        kind = role & CLASS
        attaches = _attached(kind) and touching != CR and touching != LF and touching != NEWLINE
        if not attaches:
            rule = rules[last, kind]
            if rule > PAIR:
                joins = _holds(rule, before, text, at + width, classes)
            else:
                joins = rule == JOIN or (rule == ADJACENT and touching == SPACE) or (rule == PAIR and not paired)
            joins |= touching == ZWJ and role & PICTURE != 0
            paired = joins and rule == PAIR
            before, last = last, kind
            if not joins:
                edges[used] = start
                edges[used + 1] = at
                used += 2 if content else 0
                content = False
                start = at
        content |= role & CONTENT != 0
        touching = kind
        at += width
    if content:
        edges[used] = start
        edges[used + 1] = at
        used += 2
    return used


@njit(cache=True, nogil=True)
def _holds(rule: int, before: int, text: np.ndarray, after: int, classes: np.ndarray) -> bool:
    """Whether what a rule asks of the character before or after the two holds."""
    asked = before if rule >= LETTER_BEFORE else _after(text, after, classes)
    if rule in (LETTER_AFTER, LETTER_BEFORE):
        return asked in (LETTER, HEBREW)
    if rule in (HEBREW_AFTER, HEBREW_BEFORE):
        return asked == HEBREW
    return asked == NUMERIC
