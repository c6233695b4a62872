"""What makes two documents equal."""

import pyarrow as pa
import pytest
import twins
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.dedup.exact import NOTHING, normal_forms, text_hashes, url_form, value_hashes


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(twins.TEXTS, max_size=6))
def test_normal_forms_are_words_by_single_spaces(texts: list[str]) -> None:
    assert normal_forms(pa.array(texts, pa.large_string())).to_pylist() == [
        " ".join(twins.words(text, "character")) for text in texts
    ]


def test_hashes_of_texts() -> None:
    texts = pa.array(["One,  two", "one two", "one twos", "?!", "", None], pa.large_string())
    one, same, other, *nothing = text_hashes(texts).to_pylist()
    assert one == same == xxhash.xxh3_128_digest(b"one two")
    assert other != one
    assert nothing == [NOTHING] * 3  # texts without words are equal to none


def test_hashes_of_values() -> None:
    found = value_hashes(["a", "a ", None, "", "HTTP://Example.com:80", "http://example.com/"]).to_pylist()
    assert found[0] != found[1]
    assert found[2:4] == [NOTHING] * 2
    assert found[4] == found[5] == xxhash.xxh3_128_digest(b"http://example.com/")


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a?b=1#part", "https://example.com/a?b=1"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://example.com/a/./b/../c/..", "http://example.com/a/"),
        ("http://example.com/../a", "http://example.com/a"),
        ("http://example.com/%7euser/%2f%c3%a9", "http://example.com/~user/%2F%C3%A9"),
        ("http://example.com/é b", "http://example.com/%C3%A9%20b"),
        ("http://example.com/a?y=2&x=1", "http://example.com/a?y=2&x=1"),
        ("http://User:Pw@Example.com/", "http://User:Pw@example.com/"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("  https://example.com/x ", "https://example.com/x"),
        ("http://example.com:port/", "http://example.com:port/"),
        ("http://[broken/", "http://[broken/"),
        ("httpd", "httpd"),
        ("http:nothing", "http:nothing"),
        ("ftp://Example.com", "ftp://Example.com"),
        ("10.1000/ABC", "10.1000/ABC"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/%zz", "http://example.com/%25zz"),
    ],
)
def test_urls_in_their_normal_form(url: str, form: str) -> None:
    assert url_form(url) == form
    assert url_form(form) == form
