import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.personal import ADDRESS, MAIL, PHONE, count_matches, fill_matches
from zydaflow.kernels.pii import ROLES
from zydaflow.kernels.text import Text

NUMBER = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
THREE = "[2-9][0-9]{2}"
PATTERNS = {
    MAIL: re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b"),
    ADDRESS: re.compile(rf"(?<![\w.])(?:{NUMBER}\.){{3}}{NUMBER}(?!\w|\.[0-9])"),
    PHONE: re.compile(
        r"(?<![\w+])\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}(?!\w)"
        rf"|(?<!\w)(?<![0-9][.-])(?:1[ .-])?(?:\({THREE}\) ?|{THREE}[ .-]){THREE}[ .-][0-9]{{4}}(?!\w|[.-][0-9])"
    ),
}
PIECES = {
    MAIL: ["@", ".", "a", "Z", "com", "-", "_", "%", " ", "é", "°", "1", "x@y.org", "+"],
    ADDRESS: [".", ".", "0", "1", "25", "255", "256", "09", "1000", "1.2.3.4", "a", "é", "٣", " ", "-"],
    PHONE: [
        "+",
        "1",
        "1 ",
        "212",
        "(212)",
        "555-",
        "555 ",
        "0123",
        "123",
        ".",
        "-",
        " ",
        "(",
        ")",
        "a",
        "é",
        "212-555-0123",
    ],
}


def matches_in(text: Text, kind: int) -> list[tuple[int, int]]:
    starts, ends = text.offsets[:-1], text.offsets[1:]
    counts = count_matches(text.data, starts, ends, kind, ROLES, character_classes())
    matches = np.empty((counts.sum(), 2), np.int64)
    fill_matches(text.data, starts, ends, kind, ROLES, character_classes(), matches)
    assert counts.tolist() == [
        int(((matches[:, 0] >= start) & (matches[:, 1] <= end)).sum()) for start, end in zip(starts, ends, strict=True)
    ]
    return [text.data[first:end].tobytes().decode() for first, end in matches]


@pytest.mark.parametrize("kind", PATTERNS)
def test_equals_the_expression(as_buffers, kind):
    @given(st.lists(st.lists(st.sampled_from(PIECES[kind]), min_size=1, max_size=20).map("".join), max_size=3))
    @settings(derandomize=True, deadline=None, max_examples=1500)
    def check(texts):
        expected = [match[0] for text in texts for match in PATTERNS[kind].finditer(text)]
        assert matches_in(as_buffers(texts), kind) == expected

    check()


@pytest.mark.parametrize("kind", PATTERNS)
def test_long_runs(as_buffers, kind):
    for piece in PIECES[kind]:
        text = piece * 3000
        assert matches_in(as_buffers([text]), kind) == [match[0] for match in PATTERNS[kind].finditer(text)]
