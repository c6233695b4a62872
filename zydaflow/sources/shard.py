"""What the sources hand on: a piece of one input file, and the batches of records that are read from it."""

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

RECORDS = pa.schema(
    [
        (
            "position",
            pa.int64(),
        ),  # jsonl: offset of the record in the decompressed file; parquet, arrow: row in the file
        ("text", pa.large_string()),  # as loaded, repaired to valid UTF-8; null where the record holds no text
        ("id", pa.string()),  # the id column's value, exactly; null where there is none
        ("license", pa.string()),  # null where unknown
        ("metadata", pa.string()),  # the carried columns as one strict JSON object; null where none are asked for
    ]
)

QUARANTINE = pa.schema(
    [
        ("position", pa.int64()),
        ("bytes", pa.int64()),  # the record's bytes in the file; its text's where that could be read
        ("reason", pa.string()),
        ("excerpt", pa.string()),  # its first 200 characters, undecodable bytes replaced
    ]
)


@dataclass(frozen=True)
class Shard:
    """A piece of one input file that one worker reads.

    `start` and `stop` are byte offsets of uncompressed JSONL (the records that begin in [start, stop)), row groups
    of Parquet, record batches of Arrow, and 0 and -1 (to the end) where the file can only be read as a whole.
    """

    dataset: str
    url: str  # what to open: a local path or an fsspec URL
    file: str  # path relative to the dataset's root, "/" between folders: the file's identity
    form: str  # jsonl, jsonl.gz, jsonl.zst, parquet, arrow, installed
    start: int
    stop: int
    size: int  # bytes of the file as it is stored
    version: str  # ETag, revision, or size and time of modification

    @property
    def name(self) -> str:
        """Unique in its dataset."""
        return f"{self.file}@{self.start:015d}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Batch:
    """Consecutive records of a shard. A compressed file is read in parts, which commit one by one."""

    part: int
    records: pa.RecordBatch  # of schema RECORDS
    quarantine: pa.RecordBatch  # of schema QUARANTINE
    sampled_out: int  # records that the sample left out: counted, not read
    repaired: int  # records in which invalid UTF-8 or lone surrogates became U+FFFD
