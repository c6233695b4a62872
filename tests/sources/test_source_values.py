"""Values as exact text: any JSON survives, whatever parser it needs."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read, spec

from zydaflow.sources.records import columns_of
from zydaflow.sources.values import as_metadata, as_text, parse_exactly, without_surrogates

WORDS = st.text(max_size=5)
NUMBERS = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([2**53 + 1, 2**64, -(2**63) - 1])
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.fixed_dictionaries({"text": st.none() | st.text(max_size=20), "m": VALUES, "id": NUMBERS | WORDS})


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=5), st.booleans())
def test_any_record_survives(tmp_path_factory, records, ascii_only):
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_bytes("\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records).encode())
    got = read(path, id="id", metadata=("m",))
    assert got.texts == [record["text"] for record in records]
    assert got.ids == [r["id"] if isinstance(r["id"], str) else json.dumps(r["id"]) for r in records]
    assert got.metadata == [{"m": record["m"]} for record in records]
    assert (got.bad, got.repaired) == ([], 0)


def test_an_exact_parse_keeps_the_literals():
    value, broken = parse_exactly(b'{"a": 1.10, "b": [123456789012345678901, NaN, -Infinity], "c": "\xe9"}')
    assert as_metadata(value, ("a", "b", "c")) == '{"a":1.10,"b":[123456789012345678901,null,null],"c":"\ufffd"}'
    assert broken
    assert parse_exactly(b"[]") == ([], False)


def test_surrogates_go_and_nothing_else():
    value = {"a\ud800": ["\udfff", "😀", 1, None], "b": {"c": "\ufffd"}}
    assert without_surrogates(value) == {"a\ufffd": ["\ufffd", "😀", 1, None], "b": {"c": "\ufffd"}}


def test_scalars_as_text():
    assert [as_text(value) for value in (None, "", "null", True, 7, 0.5, float("nan"), float("inf"))] == [
        None,
        "",
        "null",
        "true",
        "7",
        "0.5",
        None,
        None,
    ]


def test_a_spec_without_columns_asks_for_the_text_alone():
    assert columns_of(spec("x")).names == ("text",)
    assert columns_of(spec("x", id="i", license={"column": "l"}, metadata=("i", "m"))).names == ("text", "i", "l", "m")
