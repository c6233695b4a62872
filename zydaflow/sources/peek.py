"""A glance at the first records of a JSON Lines file, which has no schema to ask."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import orjson

from zydaflow.errors import InputError
from zydaflow.sources.decompress import BrokenStreamError, gzip_blocks, zstd_blocks
from zydaflow.sources.jsonl import BOM, kind_of
from zydaflow.sources.open import opened
from zydaflow.sources.shard import Shard
from zydaflow.sources.values import parse_exactly, without_surrogates

PEEK_BYTES = 2**16  # read at a time
MAX_BYTES = 2**24  # of decompressed data; more than one long document, less than a noticeable wait
PEEK_RECORDS = 100


class First(NamedTuple):
    """The JSON objects among the first lines; where there is none though there are lines, `problem` says why."""

    records: list[dict[str, Any]]
    problem: str | None


def first_records(shard: Shard, least: int = 1) -> First:
    """Records from the beginning of a file: of as many blocks as hold `least`, up to `MAX_BYTES`.

    A first line that is longer than that is no problem, unless it cannot become an object.
    Raises what `opened` raises, and InputError where compressed data are damaged.
    """
    records: list[dict[str, Any]] = []
    problem = None
    with opened(shard, PEEK_BYTES) as file:
        try:
            for lines, finished in _lines(_blocks(file, shard.form)):
                records += [record for line in lines if (record := _parsed(line)) is not None]
                if problem is None and lines:
                    problem = _foreign(lines[0]) or ("write one JSON object per line" if finished else None)
                if len(records) >= least:
                    break
        except BrokenStreamError as error:
            raise InputError(f"{shard.url}: {error}") from error
    return First(records[:PEEK_RECORDS], None if records else problem)


def types_of(records: list[dict[str, Any]]) -> dict[str, str]:
    """The keys of the records, with the JSON types that each has, like "number or string"; null only if it is all."""
    kinds: dict[str, set[str]] = {}
    for record in records:
        for key, value in record.items():
            kinds.setdefault(key, set()).add(kind_of(value))
    return {key: " or ".join(sorted(found - {"null"} or found)) for key, found in kinds.items()}


def _blocks(file: BinaryIO, form: str) -> Iterator[bytes]:
    if form == "jsonl.gz":
        return gzip_blocks(file, PEEK_BYTES)
    if form == "jsonl.zst":
        return zstd_blocks(file)
    return iter(lambda: file.read(PEEK_BYTES), b"")


def _lines(blocks: Iterator[bytes]) -> Iterator[tuple[list[bytes], bool]]:
    """The lines that are not blank, by block, and whether they are whole: the last may be cut, at `MAX_BYTES`."""
    pieces: list[bytes] = []
    size = 0
    for block in blocks:
        if size == 0:
            block = block.removeprefix(BOM)
        size += len(block)
        cut = block.rfind(b"\n") + 1
        if cut:
            yield _split(b"".join([*pieces, block[:cut]])), True
            pieces = []
        pieces.append(block[cut:])
        if size >= MAX_BYTES:
            break
    yield _split(b"".join(pieces)), size < MAX_BYTES


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [line for line in lines if line and not line.isspace()]


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The record in a line; None where it holds none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            record = without_surrogates(parse_exactly(line)[0])
        except (ValueError, RecursionError):
            return None
    return record if type(record) is dict else None


def _foreign(line: bytes) -> str | None:
    """What to do about a file whose first line begins like something else than JSON Lines; None where it does not."""
    if b"\0" in line[:4]:
        return "it looks like UTF-16: convert it to UTF-8"
    if line.lstrip().startswith(b"["):
        return "it looks like a JSON array: write each of its records on a line of its own"
    if b"}\r{" in line:
        return "its lines end in CR alone: end them in LF"
    return None
