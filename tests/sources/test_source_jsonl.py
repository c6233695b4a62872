"""JSON Lines: what a line may be, and what becomes of lines that are none."""

import json
import random

import pytest
from reading import jsonl, read, spec

from zydaflow.errors import InputError
from zydaflow.sources import plan_dataset, read_shard, records


def read_bytes(tmp_path, data, **keys):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return read(path, **keys)


def test_lines_records_and_positions(tmp_path):
    data = b'{"text": "one"}\n\n  \r\n{"text": "two"}\r\n{"text": "three"}'
    got = read_bytes(tmp_path, data)
    assert got.texts == ["one", "two", "three"]
    assert got.positions == [0, data.index(b'{"text": "two"'), data.index(b'{"text": "three"')]
    assert got.bad == []


def test_an_empty_file_has_a_shard_and_no_batch(tmp_path):
    assert read_bytes(tmp_path, b"").batches == []
    assert len(plan_dataset(spec(tmp_path / "a.jsonl"), 10).shards) == 1


def test_blank_lines_alone_give_no_batch(tmp_path):
    assert read_bytes(tmp_path, b"\n \n\t\r\n").batches == []


def test_unicode_line_separators_stay_inside_their_record(tmp_path):
    text = "a\u2028b\u0085c\u2029d\x7f"
    got = read_bytes(tmp_path, json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
    assert got.texts == [text]
    assert got.repaired == 0


def test_a_malformed_line_costs_itself_alone(tmp_path):
    bad = '{"text": "broken, é'.encode() + b"x" * 300
    got = read_bytes(tmp_path, b'{"text": "a"}\n' + bad + b'\n{"text": "b"}\n')
    assert got.texts == ["a", "b"]
    (row,) = got.bad
    assert row["position"] == 14
    assert row["bytes"] == len(bad)
    assert row["reason"].startswith("not valid JSON: Unterminated string")
    assert row["excerpt"] == bad.decode()[:200]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1, 2]", "the line is of JSON type array, not object"),
        (b'"text"', "the line is of JSON type string, not object"),
        (b"null", "the line is of JSON type null, not object"),
        (b"NaN", "the line is of JSON type null, not object"),
        (b"7", "the line is of JSON type number, not object"),
        (b'{"text": 5}', "'text' is of JSON type number, not string"),
        (b'{"text": 1e999}', "'text' is of JSON type number, not string"),
        (b'{"text": true}', "'text' is of JSON type boolean, not string"),
        (b'{"text": ["a"]}', "'text' is of JSON type array, not string"),
        (b'{"text": {"a": 1}}', "'text' is of JSON type object, not string"),
        (b'{"text": "a"} {"text": "b"}', "not valid JSON: Extra data: line 1 column 15 (char 14)"),
        (b"\xff\xfe{\x00", "not valid JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_what_is_no_record_is_quarantined_with_its_reason(tmp_path, line, reason):
    got = read_bytes(tmp_path, b'{"text": "a"}\n' + line + b"\n")
    assert got.texts == ["a"]
    assert [(row["position"], row["bytes"], row["reason"]) for row in got.bad] == [(14, len(line), reason)]


def test_nesting_without_end_is_quarantined(tmp_path):
    got = read_bytes(tmp_path, b'{"text": "a"}\n{"text": "b", "x": ' + b"[" * 200_000 + b"\n")
    assert got.texts == ["a"]
    assert len(got.bad) == 1


def test_deep_metadata_is_quarantined_and_deep_unused_values_are_not(tmp_path):
    deep = '{"text": "b", "x": ' + "[" * 300 + "]" * 300 + "}\n"
    data = b'{"text": "a", "x": 1}\n' + deep.encode()
    assert read_bytes(tmp_path, data).texts == ["a", "b"]
    got = read_bytes(tmp_path, data, metadata=("x",))
    assert got.texts == ["a"]
    assert got.bad[0]["reason"].startswith("a value cannot be kept as JSON: ")
    data = data.replace(b'"text": "b"', b'"text": "b", "id": ' + b"[" * 300 + b"]" * 300)
    assert read_bytes(tmp_path, data, id="id").texts == ["a"]


def test_null_and_absent_text_are_null(tmp_path):
    got = read_bytes(
        tmp_path, b'{"text": "a", "n": 1}\n{"text": null, "n": 2}\n{"n": 3}\n{"text": NaN}\n{"text": ""}\n'
    )
    assert got.texts == ["a", None, None, None, ""]
    assert got.bad == []


def test_lone_surrogates_become_the_replacement_character_and_are_counted(tmp_path):
    data = rb'{"text": "hi \ud83d"}' + b"\n" + rb'{"text": "\ude00\ud83d!"}' + b"\n" + rb'{"text": "\ud83d\ude00"}'
    got = read_bytes(tmp_path, data)
    assert got.texts == ["hi \ufffd", "\ufffd\ufffd!", "😀"]
    assert got.repaired == 2


def test_lone_surrogates_in_what_is_carried_are_repaired_and_elsewhere_ignored(tmp_path):
    line = rb'{"text": "a", "id": "\ud83d", "m": {"\udc00": ["\udc01"]}, "unused": "\ud83d"}'
    got = read_bytes(tmp_path, line, id="id", metadata=("m",))
    assert (got.ids, got.metadata, got.repaired) == (["\ufffd"], [{"m": {"\ufffd": ["\ufffd"]}}], 1)
    assert read_bytes(tmp_path, line).repaired == 0


def test_an_invalid_byte_after_many_good_lines_is_replaced_and_counted(tmp_path):
    good = jsonl({"text": f"line {i}"} for i in range(10_000))
    got = read_bytes(tmp_path, good + b'{"text": "caf\xe9"}\n' + good, batch_bytes=50_000)
    assert got.texts == [f"line {i}" for i in range(10_000)] + ["caf\ufffd"] + [f"line {i}" for i in range(10_000)]
    assert got.repaired == 1
    assert got.bad == []


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path):
    got = read_bytes(tmp_path, b'\xef\xbb\xbf{"text": "a"}\n{"text": "b"}\n')
    assert (got.texts, got.positions, got.repaired) == (["a", "b"], [0, 17], 0)


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551617", "18446744073709551617"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("9" * 5000, "9" * 5000),
        ("0.10", "0.10"),
        ("1e400", "1e400"),
        ('"a\\nb"', "a\nb"),
        ("null", None),
        ("NaN", None),
        ("true", "true"),
        ('["b", 1]', '["b",1]'),
    ],
)
def test_ids_survive_exactly(tmp_path, literal, text):
    line = f'{{"text": "a", "id": {literal}}}\n{{"text": "b"}}\n'.encode()
    got = read_bytes(tmp_path, line, id="id")
    assert got.ids == [text, None]


def test_numbers_in_metadata_survive_exactly(tmp_path):
    line = '{"text": "a", "m": {"big": [18446744073709551617, 1e999], "f": 0.1, "nan": NaN}}'
    row = read_bytes(tmp_path, line.encode(), metadata=("m",)).rows[0]
    assert row["metadata"] == '{"m":{"big":[18446744073709551617,1e999],"f":0.1,"nan":null}}'
    line = '{"text": "a", "m": -18446744073709551617}'
    assert read_bytes(tmp_path, line.encode(), metadata=("m",)).rows[0]["metadata"] == '{"m":-18446744073709551617}'


def test_metadata_is_one_object_with_sorted_keys_and_null_for_what_is_absent(tmp_path):
    data = b'{"text": "a", "z": null, "b": {"y": 1, "x": [true]}}\n{"z": "s", "text": "b"}\n'
    got = read_bytes(tmp_path, data, metadata=("z", "b"))
    assert [row["metadata"] for row in got.rows] == ['{"b":{"x":[true],"y":1},"z":null}', '{"b":null,"z":"s"}']
    assert read_bytes(tmp_path, data).rows[0]["metadata"] is None


def test_unused_columns_cannot_fail_a_load(tmp_path):
    data = b'{"text": "a", "x": NaN}\n{"text": "b", "x": -Infinity}\n{"text": "c", "x": {"y": 1e999}}\n'
    data += b'{"text": "d", "x": "s"}\n{"text": "e", "x": null}\n{"text": "f"}\n'
    got = read_bytes(tmp_path, data)
    assert got.texts == list("abcdef")
    assert (got.bad, got.repaired) == ([], 0)


@pytest.mark.parametrize("first", [None, "s"])
def test_a_column_that_changes_its_type_late_gives_the_same_metadata(tmp_path, first):
    late = "s" if first is None else None
    got = read_bytes(
        tmp_path, jsonl([{"text": "t", "m": first}] * 50_000 + [{"text": "t", "m": late}]), metadata=("m",)
    )
    assert got.metadata == [{"m": first}] * 50_000 + [{"m": late}]


def test_licences_are_fixed_or_a_column(tmp_path):
    data = b'{"text": "a", "l": "MIT"}\n{"text": "b", "l": null}\n{"text": "c", "l": ["MIT", "X"]}\n'
    assert [r["license"] for r in read_bytes(tmp_path, data).rows] == [None, None, None]
    assert [r["license"] for r in read_bytes(tmp_path, data, license="CC0-1.0").rows] == ["CC0-1.0"] * 3
    got = read_bytes(tmp_path, data, license={"column": "l"})
    assert [r["license"] for r in got.rows] == ["MIT", None, '["MIT","X"]']


def test_a_line_above_the_limit_is_quarantined_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 1000)
    long = json.dumps({"text": "x" * 5000}).encode()
    fits = json.dumps({"text": "y" * (1000 - 12)}).encode()
    assert len(fits) == 1000
    for batch_bytes in (64, 100_000):  # the long line spans many blocks, or lies within one
        got = read_bytes(tmp_path, fits + b"\n" + long + b"\n" + fits + b"\n" + long, batch_bytes=batch_bytes)
        assert got.texts == ["y" * 988] * 2
        assert got.positions == [0, 1002 + len(long)]
        assert [(row["position"], row["bytes"]) for row in got.bad] == [
            (1001, len(long)),
            (2003 + len(long), len(long)),
        ]
        assert got.bad[0]["reason"] == f"the record has {len(long):,} bytes, the limit is 1,000"
        assert got.bad[0]["excerpt"] == long[:200].decode()


def test_a_long_line_among_small_blocks(tmp_path):
    got = read_bytes(tmp_path, jsonl([{"text": "a"}, {"text": "é" * 1_500_000}, {"text": "b"}]), batch_bytes=70_000)
    assert [len(text) for text in got.texts] == [1, 1_500_000, 1]


@pytest.mark.parametrize("shard_bytes", [1, 7, 64, 1000])
def test_shards_of_any_size_share_out_the_records(tmp_path, shard_bytes):
    rng = random.Random(shard_bytes)
    data = jsonl({"text": "w" * rng.choice([0, 1, 5, 50]), "n": i} for i in range(60)) + b'\n\nbroken\n{"text": "last"}'
    whole = read_bytes(tmp_path, data)
    cut = read_bytes(tmp_path, data, shard_bytes=shard_bytes)
    assert cut.rows == whole.rows
    assert cut.bad == whole.bad
    assert len(whole.rows) == 61


def test_batches_hold_about_what_is_asked_for(tmp_path):
    got = read_bytes(tmp_path, jsonl({"text": "w" * 1000} for _ in range(500)), batch_bytes=100_000)
    assert {batch.part for batch in got.batches} == {0}
    assert len(got.batches) == 6
    assert all(len(batch.records) <= 100 for batch in got.batches)


def test_a_file_that_changed_since_the_plan_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n')
    dataset = spec(path)
    (shard,) = plan_dataset(dataset, 100).shards
    path.write_bytes(b'{"text": "a"}\n{"text": "b"}\n')
    with pytest.raises(InputError, match="plan again"):
        list(read_shard(shard, dataset, part_bytes=100, seed=1))
    path.unlink()
    with pytest.raises(InputError, match=r"a\.jsonl: cannot be read"):
        list(read_shard(shard, dataset, part_bytes=100, seed=1))
