import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.tokens import Cutter, cutter


def cut_slowly(lengths: list[int], shard_bytes: int, batch_bytes: int, batch_rows: int) -> list[tuple[int, int]]:
    """The rule, said with dictionaries: spans in order of their first document, numbered from 0."""
    shards: dict[int, int] = {}
    batches: dict[int, dict[tuple[int, int], int]] = {}
    numbers, start = [], 0
    for row, length in enumerate(lengths):
        span = start // shard_bytes
        shard = shards.setdefault(span, len(shards))
        inside = batches.setdefault(shard, {})
        batch = inside.setdefault(((start - span * shard_bytes) // batch_bytes, row // batch_rows), len(inside))
        numbers.append((shard, batch))
        start += length
    return numbers


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 30), st.just(250)), max_size=60),
    st.integers(1, 120),
    st.integers(1, 50),
    st.integers(1, 9),
    st.lists(st.integers(0, 60), max_size=4),
)
def test_every_division_into_pieces_gives_what_the_rule_says(
    lengths: list[int], shard_bytes: int, batch_bytes: int, batch_rows: int, cuts: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutter, "BATCH_ROWS", batch_rows)
        by_rule = Cutter(shard_bytes, batch_bytes)
        pieces = [by_rule.cut(piece) for piece in np.split(np.array(lengths, np.int64), sorted(cuts))]
    shards, batches = (np.concatenate(part).tolist() for part in zip(*pieces, strict=True))
    assert list(zip(shards, batches, strict=True)) == cut_slowly(lengths, shard_bytes, batch_bytes, batch_rows)


def test_a_long_document_takes_no_numbers() -> None:
    shards, batches = Cutter(100, 40).cut(np.array([30, 20, 450, 10, 85, 5]))
    assert shards.tolist() == [0, 0, 0, 1, 1, 1]  # they begin at 0, 30, 50; 500, 510, 595
    assert batches.tolist() == [0, 0, 1, 0, 0, 1]


def test_batches_are_bounded_in_rows() -> None:
    _, batches = Cutter(1 << 30).cut(np.ones(25_000, np.int64))
    assert np.bincount(batches).tolist() == [10_000, 10_000, 5_000]
