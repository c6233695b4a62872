"""Rows of text as a table for a terminal."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lines with columns as wide as they need to be: the first `left` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_padded(row, widths, left)).rstrip() for row in rows)


def _padded(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    cells = zip(row, widths, strict=True)
    return [f"{text:<{width}}" if k < left else f"{text:>{width}}" for k, (text, width) in enumerate(cells)]
