"""JSON Lines, plain or compressed: one record per line, a bad line costs itself alone."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import orjson
import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.sources import records
from zydaflow.sources.decompress import BrokenStreamError, gathered, gzip_blocks, zstd_blocks
from zydaflow.sources.lines import Lines, lines_between
from zydaflow.sources.open import opened
from zydaflow.sources.records import Bad, Columns
from zydaflow.sources.sample import Sample, kept
from zydaflow.sources.shard import Batch, Shard
from zydaflow.sources.values import as_metadata, as_text, parse_exactly, without_surrogates

BOM = b"\xef\xbb\xbf"
SMALLEST_READ = 2**16
LONG_TEXT = 2**20  # characters; a longer text is not kept as a string, which takes up to 4 bytes for each
_ROUNDED = re.compile(r"[0-9]e[+]?(1[89]|[2-9][0-9]|[1-9][0-9]{2})")  # may stand for an integer beyond 64 bits


def read_jsonl(
    shard: Shard, columns: Columns, sample: Sample, part_bytes: int, first_part: int, batch_bytes: int
) -> Iterator[Batch]:
    """The records that begin in the shard's range; those of a compressed file from part `first_part` on.

    Raises InputError, after the batches before the fault, where compressed data are cut short or damaged.
    """
    packed = shard.form != "jsonl"
    start, stop = (first_part * part_bytes, -1) if packed else (shard.start, shard.stop)
    with opened(shard) as file:
        runs = (
            compressed_lines(file, shard, start, batch_bytes) if packed else plain_lines(file, start, stop, batch_bytes)
        )
        for run in runs:
            for part, lines in _by_part(run, part_bytes) if packed else [(0, run)]:
                batch = read_lines(lines, columns, sample, part)
                if len(batch.records) or len(batch.quarantine) or batch.sampled_out:
                    yield batch


def plain_lines(file: BinaryIO, start: int, stop: int, block_bytes: int) -> Iterator[Lines]:
    """The lines of an uncompressed file that begin in [start, stop)."""
    offset = max(start - 1, 0)
    file.seek(offset)

    def blocks() -> Iterator[bytes]:
        position = offset
        while block := file.read(min(block_bytes, max(stop - position, SMALLEST_READ)) if stop >= 0 else block_bytes):
            yield block
            position += len(block)

    return lines_between(blocks(), offset, start, stop)


def compressed_lines(file: BinaryIO, shard: Shard, start: int, block_bytes: int) -> Iterator[Lines]:
    """The lines of a compressed file that begin at `start` (of the decompressed bytes) or later."""
    blocks = gzip_blocks(file, block_bytes) if shard.form == "jsonl.gz" else zstd_blocks(file)
    end = start
    try:
        for lines in lines_between(gathered(blocks, block_bytes), 0, start, -1):
            yield lines
            end = lines.end + 1
    except BrokenStreamError as error:
        raise InputError(
            f"{shard.url}: {error}. The last whole record ends at byte {end:,} of the decompressed data. "
            "Fetch or write the file again, or leave it out of the dataset's path."
        ) from error


def _by_part(run: Lines, part_bytes: int) -> Iterator[tuple[int, Lines]]:
    """The lines by the part in which they begin."""
    parts = run.positions // part_bytes
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
    for low, high in pairwise(bounds):
        yield int(parts[low]), Lines(run.positions[low:high], run.sizes[low:high], run.lines[low:high])


class _Rows:
    """The columns of a batch as they fill."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.texts: list[str | bytes | None] = []
        self.ids: list[str | None] = []
        self.licenses: list[str | None] = []
        self.metadata: list[str | None] = []
        self.bad: list[Bad] = []
        self.repaired = 0

    def append(
        self, position: int, text: str | None, id_: str | None, license_: str | None, metadata: str | None
    ) -> None:
        self.positions.append(position)
        self.texts.append(text.encode() if text is not None and len(text) > LONG_TEXT else text)
        self.ids.append(id_)
        self.licenses.append(license_)
        self.metadata.append(metadata)

    def batch(self, columns: Columns, part: int, sampled_out: int) -> Batch:
        table = records.records_of(
            columns,
            pa.array(self.positions, pa.int64()),
            pa.array(self.texts, pa.large_string()),
            pa.array(self.ids, pa.string()),
            pa.array(self.licenses, pa.string()),
            pa.array(self.metadata, pa.string()),
        )
        return Batch(part, table, records.quarantine_of(self.bad), sampled_out, self.repaired)


def read_lines(run: Lines, columns: Columns, sample: Sample, part: int) -> Batch:
    """The records of these lines, which are used up; blank lines are nothing, bad ones go to the quarantine."""
    rows = _Rows()
    keep = kept(run.positions, sample)
    sampled_out = 0
    for position, size, line, wanted in zip(
        run.positions.tolist(), run.sizes.tolist(), run.lines, keep.tolist(), strict=True
    ):
        if position == 0 and line.startswith(BOM):
            line = line[len(BOM) :]
        if not line or line.isspace():
            continue
        if not wanted:
            sampled_out += 1
            continue
        reason = (
            records.too_long(size) if size > records.MAX_RECORD_BYTES else _read_line(position, line, columns, rows)
        )
        if reason:
            rows.bad.append(Bad(position, size, reason, line))
    run.lines.clear()  # a long one would lie beside its text for as long as that is worked on
    line = b""
    return rows.batch(columns, part, sampled_out)


def _read_line(position: int, line: bytes, columns: Columns, rows: _Rows) -> str | None:
    """Adds the line's record to the rows, or returns the reason why it is none."""
    repaired = False
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            record, repaired = _read_hard_line(line, columns)
        except (ValueError, RecursionError) as error:
            return f"not valid JSON: {error}"
    if type(record) is not dict:
        return f"the line is of JSON type {kind_of(record)}, not object"
    text = record.get(columns.text)
    if text is not None and type(text) is not str:
        return f"{columns.text!r} is of JSON type {kind_of(text)}, not string"
    try:
        id_ = _exact_text(record, line, columns.id)
        license_ = _exact_text(record, line, columns.license)
        metadata = _metadata(record, line, columns)
    except ValueError as error:
        return str(error)
    rows.append(position, text, id_, license_, metadata)
    rows.repaired += repaired
    return None


def _read_hard_line(line: bytes, columns: Columns) -> tuple[Any, bool]:
    """What orjson refuses (NaN, huge numbers, lone surrogates, invalid UTF-8), and whether anything became U+FFFD."""
    record, repaired = parse_exactly(line)
    if type(record) is not dict:
        return record, repaired
    used = {name: record[name] for name in columns.names if name in record}
    clean = without_surrogates(used)
    return clean, repaired or clean != used


def _exact_text(record: dict[str, Any], line: bytes, name: str | None) -> str | None:
    if name is None:
        return None
    value = record.get(name)
    if type(value) is float:  # perhaps an integer beyond 64 bits: take the literal
        value = parse_exactly(line)[0][name]
    return as_text(value)


def _metadata(record: dict[str, Any], line: bytes, columns: Columns) -> str | None:
    if not columns.metadata:
        return None
    metadata = as_metadata(record, columns.metadata)
    if _ROUNDED.search(metadata):
        metadata = as_metadata(parse_exactly(line)[0], columns.metadata)
    return metadata


def kind_of(value: Any) -> str:
    """The JSON type of a parsed value."""
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
