"""Values of Arrow columns, also those that Python cannot hold: one of them costs its record at most."""

import datetime
import decimal
import warnings

import numpy as np
import pyarrow as pa
import pytest
from reading import read

from zydaflow.sources import scalars
from zydaflow.sources.scalars import as_strings, python_values
from zydaflow.sources.values import as_text

YEAR_10000 = 253_402_300_800  # seconds since 1970


def values_of(array):
    reasons = {}
    values, changed = python_values(array, reasons)
    assert reasons == {}
    return values, changed.tolist()


def written(tmp_path, **columns):
    path = tmp_path / "a.arrow"
    table = pa.table({"text": [f"text {i}" for i in range(len(next(iter(columns.values()))))], **columns})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pa.array([YEAR_10000], pa.timestamp("s")), "10000-01-01T00:00:00"),
        (pa.array([YEAR_10000], pa.timestamp("s", "Europe/Berlin")), "10000-01-01T00:00:00Z"),
        (pa.array([0], pa.timestamp("us", "Mars/Olympus")), "1970-01-01T00:00:00.000000Z"),
        (pa.array([2**62], pa.timestamp("s")), str(2**62)),
        (pa.array([YEAR_10000 // 86400], pa.date32()), "10000-01-01"),
        (pa.array([-(10**9)], pa.date32()), "-1000000000"),
        (pa.array([2**62], pa.date64()), str(2**62)),
        (pa.array([2**62], pa.time64("us")), str(2**62)),
        (pa.array([2**62], pa.duration("s")), str(2**62)),
    ],
    ids=str,
)
def test_a_time_that_python_cannot_hold_is_text(tmp_path, array, value):
    assert values_of(array) == ([value], [False])
    both = pa.concat_arrays([array, pa.nulls(1, array.type)])
    got = read(written(tmp_path, id=both, m=both), id="id", metadata=("m",))
    assert got.ids == [value, None]
    assert got.metadata == [{"m": value}, {"m": None}]
    assert got.bad == []


def test_a_date_out_of_range_deep_in_a_value_is_text(tmp_path):
    times = pa.array([0, YEAR_10000], pa.timestamp("s"))
    nested = pa.StructArray.from_arrays([times, pa.ListArray.from_arrays([0, 1, 2], times)], ["t", "l"])
    got = read(written(tmp_path, m=nested), metadata=("m",))
    first, late = "1970-01-01T00:00:00", "10000-01-01T00:00:00"
    assert got.metadata == [{"m": {"t": first, "l": [first]}}, {"m": {"t": late, "l": [late]}}]


@pytest.mark.parametrize(
    ("kind", "key", "text"),
    [
        (pa.string(), "k", "k"),
        (pa.int64(), 7, "7"),
        (pa.bool_(), True, "true"),
        (pa.binary(), b"\xff\x00", "/wA="),
        (pa.decimal128(5, 2), decimal.Decimal("1.50"), "1.50"),
        (pa.date32(), datetime.date(2020, 1, 2), "2020-01-02"),
        (pa.struct([("a", pa.int64())]), {"a": 1}, '{"a":1}'),
    ],
    ids=str,
)
def test_maps_with_keys_of_any_type_of_which_the_last_of_equal_ones_counts(tmp_path, kind, key, text):
    maps = pa.array([[(key, 1), (key, 2)], None], pa.map_(kind, pa.int64()))
    path = written(tmp_path, m=maps, n=pa.StructArray.from_arrays([maps], ["deep"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = read(path, metadata=("m", "n"))
    assert got.metadata == [{"m": {text: 2}, "n": {"deep": {text: 2}}}, {"m": None, "n": {"deep": None}}]
    assert got.bad == []


def test_a_uuid_is_its_text(tmp_path):
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16)))
    got = read(written(tmp_path, id=uuids, m=uuids), id="id", metadata=("m",))
    text = "30313233-3435-3637-3839-616263646566"
    assert got.ids == [text, None]
    assert got.metadata == [{"m": text}, {"m": None}]


def test_fields_of_one_name_in_a_struct_do_not_fail(tmp_path):
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    assert read(written(tmp_path, m=twice), metadata=("m",)).metadata == [{"m": {"a": 2}}]


@pytest.mark.parametrize("keys", [{"metadata": ("m",)}, {"id": "m"}, {"license": {"column": "m"}}], ids=str)
def test_a_value_that_is_impossible_still_costs_its_record_alone(tmp_path, monkeypatch, keys):
    def refuse(scalar):
        if scalar.value == YEAR_10000:
            raise pa.ArrowNotImplementedError("no cast")
        return scalar.as_py()

    monkeypatch.setattr(scalars, "_moment", refuse)
    path = written(tmp_path, m=pa.array([0, YEAR_10000, 1], pa.timestamp("s")))
    got = read(path, **keys)
    assert got.texts == ["text 0", "text 2"]
    assert got.positions == [0, 2]
    (row,) = got.bad
    reason = "a value of type timestamp[s] cannot be read: no cast"
    assert row == {"position": 1, "bytes": 6, "reason": reason, "excerpt": "text 1"}


def test_a_value_nested_too_deep_for_json_costs_its_record_alone():
    deep = pa.array([1, None])
    for _ in range(300):
        deep = pa.StructArray.from_arrays([deep], ["a"], mask=pa.array([False, True]))
    reasons = {}
    values, _ = python_values(deep, reasons)
    assert as_strings(values, as_text, reasons).to_pylist() == [None, None]
    assert list(reasons) == [0]
    assert reasons[0].startswith("a value cannot be kept as JSON: ")


def test_invalid_utf8_beside_a_date_out_of_range_is_counted():
    leaf = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"], pa.binary()).buffers())
    both = pa.StructArray.from_arrays([pa.array([YEAR_10000] * 2, pa.timestamp("s")), leaf], ["t", "s"])
    late = "10000-01-01T00:00:00"
    assert values_of(both) == ([{"t": late, "s": "ok"}, {"t": late, "s": "\ufffd"}], [False, True])


def test_no_values():
    values, changed = python_values(pa.array([], pa.map_(pa.string(), pa.int64())), {})
    assert (values, changed.dtype, len(changed)) == ([], np.bool_, 0)
