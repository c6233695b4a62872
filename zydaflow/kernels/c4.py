"""C4's tests of lines (arXiv 1910.10683, section 2.2): those that are counted, and those that take lines out.

A line is a piece between the line breaks of str.splitlines(), without the white space at its ends.
"""

import numpy as np
from numba import njit

from zydaflow.kernels.automaton import Automaton
from zydaflow.kernels.c4_tables import BRACE, JAVASCRIPT, LOREM, POLICY, STOP, Tables
from zydaflow.kernels.characters import DIGIT, SPACE
from zydaflow.kernels.letters import LOWER
from zydaflow.kernels.lines import BREAK, LEAD, NEWLINE, break_width, ends_with_dots, line_end, strip
from zydaflow.kernels.utf8 import code_point

MIN_WORDS = 5  # of a line that stays
MAX_WORD = 1000  # characters of each word of a line that stays

_DOT, _QUESTION, _EXCLAMATION, _QUOTE = ord("."), ord("?"), ord("!"), ord('"')
_APOSTROPHE, _ROUND, _SQUARE, _CURLY = ord("'"), ord(")"), ord("]"), ord("}")
_OPEN_SQUARE, _OPEN_CURLY = ord("["), ord("{")


@njit(cache=True, nogil=True)
def _is_stop(point: np.integer) -> bool:
    return point in (_DOT, _QUESTION, _EXCLAMATION)


@njit(cache=True, nogil=True)
def _is_closing(point: np.integer) -> bool:
    if point < 0x80:
        return point in (_QUOTE, _APOSTROPHE, _ROUND, _SQUARE, _CURLY)
    return point == 0x2019 or point == 0x201D or point == 0xBB  # ’ ” »


@njit(cache=True, nogil=True)
def _sentence_follows(text: np.ndarray, at: int, kinds: np.ndarray, classes: np.ndarray, cases: np.ndarray) -> bool:
    """Whether another sentence of the line begins after a stop that ends at text[at].

    That is, after any closing quotation marks and brackets there is white space, and then a character that is neither
    a lower-case letter nor a stop.
    """
    spaces = False
    while at < len(text):
        point, width = code_point(text, at)
        if classes[point] & SPACE:
            if kinds[text[at]] & (BREAK | LEAD) and break_width(text, at):
                return False
            spaces = True
        elif spaces:
            return not (cases[point] & LOWER or _is_stop(point))
        elif not _is_closing(point):
            return False
        at += width
    return False


@njit(cache=True, nogil=True)
def _is_terminated(text: np.ndarray, start: int, end: int) -> bool:
    """Whether text[start:end] ends with . ? ! or ", and not with three dots."""
    if start == end:
        return False
    return (_is_stop(text[end - 1]) or text[end - 1] == _QUOTE) and not ends_with_dots(text, start, end)


@njit(cache=True, nogil=True, inline="always")
def _group(phrases: Automaton, state: np.int64, width: np.int64) -> int:
    """The group of the one phrase that ends in a final state."""
    return phrases.groups[phrases.patterns[phrases.ends[(state - phrases.first_final) // width]]]


@njit(cache=True, nogil=True)
def count_c4(data: np.ndarray, offsets: np.ndarray, tables: Tables) -> np.ndarray:
    """Per document, of its lines that are not blank: int64[n, 7].

    Lines; those with terminal punctuation; sentences in them; opening curly brackets; lorem ipsum; lines with
    javascript; lines with a phrase of policies.
    """
    kinds, classes, cases, phrases = tables.kinds, tables.classes, tables.cases, tables.phrases
    columns, transitions, first_final = phrases.columns, phrases.transitions, np.uint64(phrases.first_final)
    width = np.int64(columns.max()) + 1
    counts = np.zeros((len(offsets) - 1, 7), np.int64)
    for document in range(len(counts)):
        text = data[offsets[document] : offsets[document + 1]]
        of = counts[document]
        start = 0
        while start < len(text):
            state, found, sentences = np.uint64(0), 0, 1
            end = following = len(text)
            for at, byte in enumerate(text[start:], start):
                state = np.uint64(transitions[state + np.uint64(columns[byte])])
                if state >= first_final:
                    group = _group(phrases, np.int64(state), width)
                    found |= 1 << group
                    of[4] += group == LOREM
                kind = kinds[byte]
                if kind:
                    if kind == BRACE:
                        of[3] += 1
                    elif kind == STOP:
                        sentences += _sentence_follows(text, at + 1, kinds, classes, cases)
                    elif break_width(text, at):
                        end, following = at, at + break_width(text, at)
                        break
            first, last = strip(text, start, end, classes)
            if first < last:
                of[0] += 1
                of[1] += _is_terminated(text, first, last)
                of[2] += sentences
                of[5] += found >> JAVASCRIPT & 1
                of[6] += found >> POLICY & 1
            start = following
    return counts


@njit(cache=True, nogil=True)
def _has_long_word(text: np.ndarray, start: int, end: int, classes: np.ndarray) -> bool:
    length = 0
    while start < end and length <= MAX_WORD:
        point, width = code_point(text, start)
        start += width
        length = 0 if classes[point] & SPACE else length + 1
    return length > MAX_WORD


@njit(cache=True, nogil=True)
def _mark_end(text: np.ndarray, at: int, end: int, classes: np.ndarray, marks: np.ndarray) -> int:
    """Where the mark of a citation that begins with the bracket text[at] ends; `at` if there is none."""
    after = at + 1
    while after < end:
        point, width = code_point(text, after)
        if not classes[point] & DIGIT:
            break
        after += width
    if after < end and text[after] == _SQUARE:
        return after + 1
    for mark in marks:
        same = 0
        while mark[same] and at + same < end and text[at + same] == mark[same]:
            same += 1
        if not mark[same]:
            return at + same
    return at


@njit(cache=True, nogil=True)
def _write_line(
    text: np.ndarray,
    start: int,
    end: int,
    classes: np.ndarray,
    marks: np.ndarray,
    out: np.ndarray,
    at: int,
    first: bool,
) -> tuple[int, int]:
    """Writes text[start:end] without marks of citations to out[at:]: where it ends, and its words.

    White space with which the `first` line of a document would begin goes too.
    """
    words, gap = 0, True
    while start < end:
        if text[start] == _OPEN_SQUARE:
            after = _mark_end(text, start, end, classes, marks)
            if after > start:
                start = after
                continue
        point, width = code_point(text, start)
        space = classes[point] & SPACE != 0
        words += gap and not space
        gap = space
        if not (space and first and words == 0):
            for k in range(width):
                out[at + k] = text[start + k]
            at += width
        start += width
    return at, words


@njit(cache=True, nogil=True)
def _stays(line: np.ndarray, phrases: Automaton) -> bool:
    """Whether neither javascript nor a phrase of policies takes the line out.

    C4 throws the whole page away where it comes upon lorem ipsum or a curly bracket first: such a line stays, and rules
    over `c4.lorem_ipsum_count` and `c4.curly_bracket_count` see it.
    """
    columns, transitions = phrases.columns, phrases.transitions
    width = np.int64(columns.max()) + 1
    state, found, curly = np.int64(0), 0, False
    for byte in line:
        state = np.int64(transitions[state + columns[byte]])
        if state >= phrases.first_final:
            found |= 1 << _group(phrases, state, width)
        curly |= byte == _OPEN_CURLY
    if found >> LOREM & 1:
        return True
    return not found >> JAVASCRIPT & 1 and (curly or not found >> POLICY & 1)


@njit(cache=True, nogil=True)
def clean_c4(data: np.ndarray, offsets: np.ndarray, tables: Tables, out: np.ndarray, out_offsets: np.ndarray) -> None:
    """Writes the lines of each document that stay to `out`, a newline between them; fills in `out_offsets`.

    They lose the marks of citations, [1], [edit] and [citation needed]. Those go that have a word of more than MAX_WORD
    characters; of the others, those that then do not end with . ? ! or ", or end with three dots, or have fewer than
    MIN_WORDS words, or have javascript or a phrase of policies in them. `out` has room for all of the input.
    """
    kinds, classes, marks = tables.kinds, tables.classes, tables.marks
    to = out_offsets[0] = 0
    for document in range(len(offsets) - 1):
        text = data[offsets[document] : offsets[document + 1]]
        begin, start = to, 0
        while start < len(text):
            end, following = line_end(text, start, kinds)
            start, end = strip(text, start, end, classes)
            if start < end and not (end - start > MAX_WORD and _has_long_word(text, start, end, classes)):
                line = to + (to > begin)
                last, words = _write_line(text, start, end, classes, marks, out, line, to == begin)
                if words >= MIN_WORDS and _is_terminated(out, line, last) and _stays(out[line:last], tables.phrases):
                    if line > to:
                        out[to] = NEWLINE
                    to = last
            start = following
        out_offsets[document + 1] = to
