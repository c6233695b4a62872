import re

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from zydaflow.kernels import listed
from zydaflow.kernels.text import from_arrow

TEXTS = st.text(st.sampled_from("ab0.-/é中"), max_size=12)


def text_of(strings):
    return from_arrow(pa.array(strings, pa.large_string()))


def table_of(entries):
    text = text_of(entries)
    return listed.build(text.data, text.offsets)


@given(st.lists(TEXTS, max_size=8), st.lists(st.text(st.sampled_from("ab0.é"), min_size=1, max_size=3), min_size=1))
@example(["a.a", "", "a"], ["a", "a"])
@settings(derandomize=True, deadline=None, max_examples=150)
def test_counts_are_their_definitions(texts, entries):
    text, table, listing = text_of(texts), table_of(entries), set(entries)
    ends = [{0, *(dot.end() for dot in re.finditer(r"\.", string))} - {len(string)} for string in texts]
    assert listed.count_whole(*text, table).tolist() == [string in listing for string in texts]
    assert listed.count_domains(*text, table).tolist() == [
        sum(string[start:] in listing for start in of) for string, of in zip(texts, ends, strict=True)
    ]
    words = [set(re.split(r"[^a-z0-9\x80-\U0010ffff]+", string)) for string in texts]
    assert listed.count_words(*text, table).tolist() == [len(of & listing) for of in words]


def test_a_slice_is_its_documents():
    strings = ["x", "a.b", "b", "c"]
    text = from_arrow(pa.array(strings, pa.large_string()).slice(1, 2))
    assert listed.count_domains(*text, table_of(["b", "a.b"])).tolist() == [2, 1]


def test_many_entries_are_all_found_and_others_are_not():
    entries = [f"site{number}.example" for number in range(50_000)]
    table = table_of(entries)
    assert listed.count_whole(*text_of(entries), table).all()
    assert not listed.count_whole(*text_of([f"x{entry}" for entry in entries]), table).any()
