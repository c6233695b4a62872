"""A glance at the first records of a JSON Lines file, which has no schema to ask."""

import orjson

from zydaflow.sources.jsonl import compressed_lines, kind_of, plain_lines
from zydaflow.sources.open import opened
from zydaflow.sources.shard import Shard
from zydaflow.sources.values import parse_exactly

PEEK_BYTES = 2**16
PEEK_RECORDS = 100


def first_types(shard: Shard) -> dict[str, str]:
    """The keys of the first records, with the type that each has first; {} where there is no record."""
    with opened(shard, PEEK_BYTES) as file:
        read = (
            plain_lines(file, 0, -1, PEEK_BYTES)
            if shard.form == "jsonl"
            else compressed_lines(file, shard, 0, PEEK_BYTES)
        )
        run = next(read, None)
    types: dict[str, str] = {}
    for line in run.lines[:PEEK_RECORDS] if run else ():
        record = _parsed(line)
        for key, value in record.items():
            if value is not None or key not in types:
                types[key] = types[key] if types.get(key, "null") != "null" else kind_of(value)
    return types


def _parsed(line: bytes) -> dict:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            record, _ = parse_exactly(line)
        except (ValueError, RecursionError):
            return {}
    return record if type(record) is dict else {}
