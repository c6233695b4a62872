"""How much of source code is comments, by the syntax of a family of languages."""

from collections.abc import Callable

import numpy as np

from zydaflow.kernels.comments import (
    CHARACTERS,
    COMMENT_CHARACTERS,
    COMMENT_LINES,
    LINES,
    Syntax,
    count_comments,
    syntax,
)
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SOURCE = "StarCoder, arXiv 2305.06161, which lexes by Pygments and takes Python's docstrings from its syntax tree"

SYNTAXES = {
    "python": syntax(line="#", quotes="'\"", triple=True),
    "c": syntax(line="//", opening="/*", closing="*/", quotes="'\"", long_quotes="`"),
    "shell": syntax(line="#", quotes="'\"", apart=True),
    "sql": syntax(line="--", opening="/*", closing="*/", quotes="'\""),
    "html": syntax(opening="<!--", closing="-->"),
}
COMMENTS = {
    "python": "Python's comments (# to the end of the line, outside of strings) and strings in three quotes that begin "
    "a line",
    "c": "comments (// to the end of the line, /* to */, outside of strings in ', \" and `) of C, C++, C#, Go, Java, "
    "JavaScript, Kotlin, Rust, Scala, Swift, TypeScript",
    "shell": "comments (# at the start of a line or after white space, to its end, outside of strings) of shell, Perl, "
    "R, Ruby, Make, TOML, YAML",
    "sql": "SQL's comments (-- to the end of the line, /* to */, outside of strings)",
    "html": "comments (<!-- to -->) of HTML and XML",
}


def _function(language: str, grammar: Syntax) -> Callable[[Text, Text, Resources], dict[str, np.ndarray]]:
    def function(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
        counts = count_comments(*transformed, grammar).T
        return {
            f"code.comment_fraction.{language}": ratio(counts[COMMENT_CHARACTERS], counts[CHARACTERS]),
            f"code.comment_line_fraction.{language}": ratio(counts[COMMENT_LINES], counts[LINES]),
        }

    return function


def _measure(language: str) -> Measure:
    comments = COMMENTS[language]
    return Measure(
        f"code.comments.{language}",
        1,
        (
            Signal(
                f"code.comment_fraction.{language}",
                "fraction",
                "of characters",
                f"Characters in {comments}, over all characters.",
                SOURCE,
                bins.SHARES,
            ),
            Signal(
                f"code.comment_line_fraction.{language}",
                "fraction",
                "of lines",
                f"Lines of nothing but white space and {comments}, over the lines that are not blank.",
                SOURCE,
                bins.SHARES,
            ),
        ),
        _function(language, SYNTAXES[language]),
    )


MEASURES = tuple(_measure(language) for language in SYNTAXES)
