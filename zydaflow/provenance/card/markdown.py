"""Markdown in which any text stays text."""

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"[\\`*\[\]<>|#~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")  # a _ within a word is none


def text(value: str) -> str:
    """The value in one line, with everything escaped that Markdown, or HTML within it, would read as markup."""
    line = " ".join(value.split()).replace("&", "&amp;")
    return _MARKUP.sub(r"\\\g<0>", line)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    lines = [_row(head), _row(["---"] * len(head), escape=False), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str], escape: bool = True) -> str:
    return f"| {' | '.join(text(cell) if escape else cell for cell in cells)} |"


def fenced(code: str, language: str) -> str:
    """A block of code, within a fence longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
