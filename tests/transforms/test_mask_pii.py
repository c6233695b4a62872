import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals, transforms
from zydaflow.signals import Resources

NUMBER = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
THREE = "[2-9][0-9]{2}"
MASKS = [
    (r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b", "|||EMAIL_ADDRESS|||"),
    (rf"(?<![\w.])(?:{NUMBER}\.){{3}}{NUMBER}(?!\w|\.[0-9])", "|||IP_ADDRESS|||"),
    (
        r"(?<![\w+])\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}(?!\w)"
        rf"|(?<!\w)(?<![0-9][.-])(?:1[ .-])?(?:\({THREE}\) ?|{THREE}[ .-]){THREE}[ .-][0-9]{{4}}(?!\w|[.-][0-9])",
        "|||PHONE_NUMBER|||",
    ),
]
PIECES = [
    "a@b.com",
    "@",
    "x@",
    ".org",
    "1.2.3.4",
    "+442079460958",
    "212-555-0123",
    " ",
    ".",
    "-",
    "é",
    "1",
    "\n",
    "+1 ",
]


def masked(text: str) -> str:
    for pattern, mark in MASKS:
        text = re.sub(pattern, mark, text)
    return text


def mask(texts):
    return transforms.apply(["mask_pii"], pa.array(texts, pa.large_string()))


@given(st.lists(st.none() | st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=5))
@settings(derandomize=True, deadline=None, max_examples=600)
def test_equals_one_expression_after_another(texts):
    assert mask(["a@b.co 1.2.3.4", *texts])[1:].to_pylist() == [text and masked(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to jane.doe@mail.example.org.", "Write to |||EMAIL_ADDRESS|||."),
        ("ssh root@10.0.0.1 -p 22", "ssh root@|||IP_ADDRESS||| -p 22"),
        ("from 8.8.8.8, not v1.2.3.4 or 1.2.3.4.5", "from |||IP_ADDRESS|||, not v1.2.3.4 or 1.2.3.4.5"),
        ("(212) 555-0123 or +44 20 7946 0958", "|||PHONE_NUMBER||| or |||PHONE_NUMBER|||"),
        ("in 1990-2000, ISBN 978-3-16-148410-0", "in 1990-2000, ISBN 978-3-16-148410-0"),
        ("a@b.com+442079460958", "|||EMAIL_ADDRESS||||||PHONE_NUMBER|||"),
        ("é😀a@b.com", "é😀|||EMAIL_ADDRESS|||"),
    ],
)
def test_known(text, expected):
    assert masked(text) == expected
    assert mask([text]).to_pylist() == [expected]


def test_nothing_to_mask_is_no_copy():
    texts = pa.array(["a", "", None, "1.2.3"], pa.large_string())
    assert transforms.apply(["mask_pii"], texts) is texts


def test_empty_documents_between_matches():
    assert mask(["", "a@b.com", "", "a@b.com", ""]).to_pylist() == [
        "",
        "|||EMAIL_ADDRESS|||",
        "",
        "|||EMAIL_ADDRESS|||",
        "",
    ]


def test_marks_are_no_personal_data():
    texts = mask(["a@b.com 1.2.3.4 212-555-0123"])
    names = ["pii.email_count", "pii.ip_count", "pii.phone_count"]
    assert signals.measure(names, texts, texts, Resources()).to_pylist() == [dict.fromkeys(names, 0)]
