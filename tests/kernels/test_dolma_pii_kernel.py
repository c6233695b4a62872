import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.dolma_pii import AROUND, MOST_QUESTIONS, count_dolma_pii
from zydaflow.kernels.pii import ROLES

MAIL = re.compile(r"[.\s@,?!;:)(]*([^\s@]+@[^\s@,?!;:)(]+?)[.\s@,?!;:)(]?[\s\n\r]")
PHONE = re.compile(r"\s+\(?(\d{3})\)?[-\. ]*(\d{3})[-. ]?(\d{4})")
NUMBER = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
QUAD = re.compile(rf"(?:{NUMBER}\.){{3}}{NUMBER}")
PIECES = st.sampled_from(
    [*"@@..,(?): \n\t-é٣", "a", "b.c", "(", "a@b.org ", " 212", "555", "0123", "1.2.3.4", "\u00a0", "\u2028", "\u3000x"]
)


def count_of(text: str) -> int:
    if text.count("?") > MOST_QUESTIONS:
        return 0
    total = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+$", text):
        parts = [match[1].split("@") for match in MAIL.finditer(line)]
        total += sum(addressee.strip() != "(" and "." in domain for addressee, domain in parts)
        total += len(PHONE.findall(line)) + len(QUAD.findall(line))
    return total


def count(as_buffers, texts):
    return count_dolma_pii(*as_buffers(texts), ROLES, AROUND, character_classes()).tolist()


@given(st.lists(st.lists(PIECES, max_size=20).map("".join), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_equals_the_expressions(as_buffers, texts):
    assert count(as_buffers, texts) == [count_of(text) for text in texts]


@pytest.mark.parametrize("piece", ["@", "a@", "a@b.", "(", " 212", "1.", "é@中. "])
def test_long_runs(as_buffers, piece):
    text = piece * 300
    assert count(as_buffers, [text]) == [count_of(text)]


def test_many_questions(as_buffers):
    most = "?" * MOST_QUESTIONS + " a@b.c "
    assert count(as_buffers, [most, most + "?"]) == [1, 0]
