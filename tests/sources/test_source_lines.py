"""Cutting a stream into lines: any cutting into ranges and blocks gives every line once, at its place."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.sources.lines import lines_between

BYTES = st.lists(st.sampled_from([b"\n", b"\n", b"a", b"bc", b"\r", b"\xff", b"long line"])).map(b"".join)


def obvious(data: bytes) -> list[tuple[int, bytes]]:
    found, position = [], 0
    for line in data.split(b"\n"):
        found.append((position, line))
        position += len(line) + 1
    return found


def lines(data: bytes, offset: int, block: int, start: int, stop: int) -> list[tuple[int, bytes]]:
    blocks = [data[i : i + block] for i in range(offset, len(data), block)]
    found = []
    for run in lines_between(blocks, offset, start, stop):
        assert run.sizes.tolist() == [len(line) for line in run.lines]
        found += zip(run.positions.tolist(), run.lines, strict=True)
    return found


@settings(derandomize=True, max_examples=300, deadline=None)
@given(BYTES, st.integers(1, 40), st.integers(1, 12))
def test_ranges_share_out_the_lines(data, width, block):
    found = []
    for start in range(0, max(len(data), 1), width):
        found += lines(data, max(start - 1, 0), block, start, min(start + width, len(data)))
    assert [x for x in found if x[1]] == [x for x in obvious(data) if x[1]]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(BYTES, st.integers(0, 40), st.integers(1, 12))
def test_a_start_skips_the_lines_that_begin_before_it(data, start, block):
    found = lines(data, 0, block, start, -1)
    assert [x for x in found if x[1]] == [x for x in obvious(data) if x[1] and x[0] >= start]
