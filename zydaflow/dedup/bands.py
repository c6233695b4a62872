"""Bands: how a signature is cut, what that finds, and the keys that bring similar documents together."""

from functools import cache
from typing import NamedTuple

import numpy as np

from zydaflow.errors import RecipeError
from zydaflow.kernels.bandkeys import fill_keys, lay_out

RANGES = 256
"""Key ranges, by the top byte: the unit of matching."""

ROW_BITS = 18
"""Bits of a row in a packed key, so that a shard has at most 2^18 rows whose keys are packed."""

_VERIFIED = (0.1, 0.9)  # weights of false positives and negatives: verification costs little, a miss is final
_UNVERIFIED = (0.5, 0.5)


class KeyTable(NamedTuple):
    """The keys of one shard by range: those of range r lie at bounds[r]:bounds[r + 1], in the order of the rows."""

    packed: np.ndarray  # uint64 (m,): 46 bits of the key, after the byte that says the range, and then its row
    bounds: np.ndarray  # int64 (RANGES + 1,)


@cache  # the integral takes 20 ms, and every unit of work asks for it
def choose(threshold: float, permutations: int, verify: str) -> tuple[int, int]:
    """Bands and rows with the least weighted integral of false positives and negatives (datasketch's rule).

    Raises:
        RecipeError: no split has at least two bands.
    """
    if permutations < 2:
        raise RecipeError(
            f"dedup.permutations: {permutations} cannot be cut into bands; raise it, or give dedup.bands and dedup.rows"
        )
    from datasketch import MinHashLSH  # which takes a while

    try:
        index = MinHashLSH(threshold, permutations, weights=_UNVERIFIED if verify == "none" else _VERIFIED)
    except ValueError:  # near 1 the least integral is that of one band, which datasketch refuses
        return 2, permutations // 2
    return index.b, index.r


def probability(similarity: float, bands: int, rows: int) -> float:
    """1 − (1 − s^rows)^bands: the chance that two documents of Jaccard s share a band (Broder 1997)."""
    return 1 - (1 - similarity**rows) ** bands


def curve(bands: int, rows: int) -> list[tuple[float, float]]:
    """(similarity, probability of being found) at every twentieth of similarity from 0 to 1."""
    return [(step / 20, probability(step / 20, bands, rows)) for step in range(21)]


def warn_if_blind(threshold: float, bands: int, rows: int) -> str | None:
    """A warning when documents exactly at the threshold are missed more often than found, else None."""
    found = probability(threshold, bands, rows)
    if found >= 0.5:
        return None
    return (
        f"dedup.bands: {bands} bands × {rows} rows find only {found:.1%} of the pairs whose similarity is the "
        f"threshold {threshold}; use more bands or fewer rows, or leave both out"
    )


def band_keys(signatures: np.ndarray, bands: int, rows: int, out: np.ndarray | None = None) -> np.ndarray:
    """uint64 (n, bands): a 64-bit hash of each band's number and its `rows` values; 0 for a document without words.

    Args:
        signatures: uint32 (n, permutations).
        out: uint64, n rows whose first columns are to be these instead of a new array.

    Raises:
        RecipeError: bands × rows is more than the signature has.
    """
    permutations = signatures.shape[1]
    if bands * rows > permutations:
        raise RecipeError(
            f"dedup.bands: {bands} bands × {rows} rows need {bands * rows} permutations, and signatures have "
            f"{permutations}; lower one of them or raise dedup.permutations"
        )
    keys = np.empty((len(signatures), bands), np.uint64) if out is None else out
    fill_keys(signatures, bands, rows, keys)
    return keys


def by_key_range(keys: np.ndarray) -> KeyTable:
    """The keys of a shard of at most 2^18 rows, uint64 (n, columns), laid out by range for matching; 0 is no key.

    Of the 5 · 10¹⁶ pairs among the 32 keys each of 10⁷ documents, 3 agree by chance in the 54 bits that a table says of
    them; verification tells these apart.
    """
    table = KeyTable(np.empty(keys.size, np.uint64), np.zeros(RANGES + 1, np.int64))
    total = lay_out(keys, np.uint64(ROW_BITS), table.bounds, table.packed)
    return KeyTable(table.packed[:total], table.bounds)
