import numpy as np
import pyarrow as pa
import pytest

from zydaflow.errors import RunError
from zydaflow.tokens import Encoded, token_batches, token_schema

SIGNALS = [pa.field("n_words", pa.int64()), pa.field("language", pa.string())]
ROWS = pa.table(
    {
        "text": pa.array(["one", "two", "three"], pa.large_string()),
        "license": pa.array(["MIT", None, "MIT"], pa.string()),
        "metadata": pa.array(['{"a":1}', None, "{}"], pa.string()),
        "position": pa.array([5, 6, 2**40], pa.int64()),
        "text_hash": pa.array([bytes(range(16)), b"\xff" * 16, b"\x00" * 16], pa.binary(16)),
        "id": pa.array(["9007199254740993", None, ""], pa.string()),
        "n_duplicates": pa.array([0, 2, 1], pa.int64()),
        "duplicate_sources": pa.array([[], [0, 2], [1]], pa.list_(pa.uint16())),
        "file": pa.array(["f/a.jsonl", "f/a.jsonl", "b.jsonl"], pa.string()),
        "n_words": pa.array([1, None, 3], pa.int64()),
        "language": pa.array(["en", "de", None], pa.string()),
        "unused": pa.array([1, 2, 3]),
    }
)
ENCODED = Encoded(np.array([7, 8, 0, 0, 65535, 0], np.uint16), np.array([0, 3, 4, 6]))
PROVENANCE = [
    {
        "source": "b", "source_id": "9007199254740993", "source_file": "f/a.jsonl", "source_position": 5,
        "text_hash": "000102030405060708090a0b0c0d0e0f", "license": "MIT", "n_duplicates": 0, "duplicate_sources": [],
    },
    {
        "source": "b", "source_id": None, "source_file": "f/a.jsonl", "source_position": 6,
        "text_hash": "f" * 32, "license": None, "n_duplicates": 2, "duplicate_sources": ["a", "c"],
    },
    {
        "source": "b", "source_id": "", "source_file": "b.jsonl", "source_position": 2**40,
        "text_hash": "0" * 32, "license": "MIT", "n_duplicates": 1, "duplicate_sources": ["b"],
    },
]  # fmt: skip


def test_a_row_says_what_it_is_and_where_it_comes_from() -> None:
    schema = token_schema(np.dtype(np.uint16), True, SIGNALS, metadata=True)
    (batch,) = token_batches(schema, ROWS, "b", ENCODED, ["a", "b", "c"])
    assert batch.schema.equals(schema, check_metadata=True)
    tokens = [([7, 8, 0], 3), ([0], 1), ([65535, 0], 2)]
    rest = ROWS.select(["metadata", "text", "n_words", "language"]).to_pylist()
    assert batch.to_pylist() == [
        {"input_ids": ids, "n_tokens": n, **row, **carried}
        for (ids, n), row, carried in zip(tokens, PROVENANCE, rest, strict=True)
    ]
    batch.validate(full=True)


def test_a_slice_of_a_table_of_several_chunks() -> None:
    schema = token_schema(np.dtype(np.uint16), False, [])
    rows = pa.concat_tables([ROWS, ROWS]).slice(1, 3)
    encoded = Encoded(np.array([1, 0, 0, 2, 0], np.uint16), np.array([0, 2, 3, 5]))
    (batch,) = token_batches(schema, rows, "b", encoded, ["a", "b", "c"])
    assert batch.drop_columns(["input_ids", "n_tokens"]).to_pylist() == [PROVENANCE[1], PROVENANCE[2], PROVENANCE[0]]


def test_without_a_tokenizer_there_are_no_token_columns() -> None:
    (batch,) = token_batches(token_schema(None, True, []), ROWS, "b", None, ["a", "b", "c"])
    assert batch.schema.names == [*PROVENANCE[0], "text"]
    assert batch.drop_columns(["text"]).to_pylist() == PROVENANCE


def test_32_bit_ids() -> None:
    schema = token_schema(np.dtype(np.uint32), False, [])
    encoded = Encoded(np.array([65536, 0, 0, 0], np.uint32), np.array([0, 2, 3, 4]))
    (batch,) = token_batches(schema, ROWS, "b", encoded, ["a", "b", "c"])
    assert batch.schema.field("input_ids").type == pa.list_(pa.uint32())
    assert batch["input_ids"].to_pylist() == [[65536, 0], [0], [0]]


@pytest.mark.parametrize(("most", "rows"), [(3, [1, 2]), (4, [2, 1]), (5, [2, 1]), (6, [3])])
def test_no_batch_holds_more_ids_than_its_list_type_can(most: int, rows: list[int]) -> None:
    schema = token_schema(np.dtype(np.uint16), True, SIGNALS)
    (whole,) = token_batches(schema, ROWS, "b", ENCODED, ["a", "b", "c"])
    batches = list(token_batches(schema, ROWS, "b", ENCODED, ["a", "b", "c"], most_values=most))
    assert [len(batch) for batch in batches] == rows
    assert max(len(batch["input_ids"].flatten()) for batch in batches) <= most
    assert pa.Table.from_batches(batches).to_pylist() == whole.to_pylist()


def test_a_document_of_more_ids_than_a_list_can_hold() -> None:
    schema = token_schema(np.dtype(np.uint16), False, [])
    with pytest.raises(RunError, match="a document of 3 tokens"):
        list(token_batches(schema, ROWS, "b", ENCODED, ["a", "b", "c"], most_values=2))


def test_no_rows_give_no_batch() -> None:
    schema = token_schema(np.dtype(np.uint16), True, SIGNALS)
    nothing = Encoded(np.empty(0, np.uint16), np.zeros(1, np.int64))
    for rows in (ROWS.slice(3), ROWS.schema.empty_table()):
        assert list(token_batches(schema, rows, "b", nothing, ["a", "b", "c"])) == []
