"""Texts of the files that the real data has."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

COLUMNS = ("text", "content", "raw_content")


def read_texts(path: Path) -> list[str]:
    """All texts of a dataset: a file, or a folder of them."""
    files = sorted(file for file in path.iterdir() if file.suffix != ".json") if path.is_dir() else [path]
    return [_text(row) for file in files for row in _rows(file)]


def _text(row: dict[str, object]) -> str:
    (text,) = (row[column] for column in COLUMNS if column in row)
    return str(text or "")


def _rows(file: Path) -> list[dict[str, object]]:
    if file.suffix == ".parquet":
        return pq.read_table(file).to_pylist()
    if file.suffix == ".arrow":
        with pa.memory_map(str(file)) as source:
            return pa.ipc.open_stream(source).read_all().to_pylist()
    content = file.read_bytes()
    if file.suffix == ".gz":
        content = gzip.decompress(content)
    if file.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return [json.loads(line) for line in content.split(b"\n") if line.strip()]
