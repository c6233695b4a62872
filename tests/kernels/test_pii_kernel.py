import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.pii import ROLES, count_pii

MAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b")
NUMBER = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
QUAD = re.compile(rf"(?:{NUMBER}\.){{3}}{NUMBER}")


def pii_of(text: str) -> int:
    return len(MAIL.findall(text)) + len(QUAD.findall(text))


PIECES = st.sampled_from(["@", ".", "a", "Z", "com", "-", "_", "%", " ", "é", "°", "1", "25", "256", "0", "x@y.org"])


@given(st.lists(st.lists(PIECES, max_size=25).map("".join), max_size=3))
@settings(derandomize=True, deadline=None, max_examples=1500)
def test_mails_and_quads(as_buffers, texts):
    assert count_pii(*as_buffers(texts), ROLES, character_classes()).tolist() == [pii_of(text) for text in texts]


@given(st.lists(st.sampled_from([".", ".", "0", "1", "2", "5", "9", "255", "256", "a"]), max_size=40).map("".join))
@settings(derandomize=True, deadline=None, max_examples=1000)
def test_quads(as_buffers, text):
    assert count_pii(*as_buffers([text]), ROLES, character_classes()).tolist() == [pii_of(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1.2.3.4.5.6.7.8", 2),
        ("36:3.0.10.2.10", 1),
        ("1.2.3.256", 1),
        ("1.256.3.4", 0),
        ("9991.2.3.4", 1),
        ("a@b.co", 1),
        ("a@b.c", 0),
        ("a@b.com_", 0),
        ("a@b.co.uk9", 1),
        ("éa@b.com", 0),
        ("a@b.comé", 0),
        ("a@b@c.org", 1),
        ("--@b.com", 0),
        ("", 0),
    ],
)
def test_known(as_buffers, text, count):
    assert pii_of(text) == count
    assert count_pii(*as_buffers([text]), ROLES, character_classes()).tolist() == [count]
