"""Rates of tokenizing and of writing shards, on one thread, against `tokenizers` in the same run.

    python tests/benchmarks/tokens.py [--tokenizer PATH-OR-HUB-NAME] [FILE.jsonl ...]

Without files the text is the standard library's source code; without a tokenizer, one is trained on it.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before the libraries are loaded: rates are per core

import numpy as np
import orjson
import pyarrow as pa
import tokenizers

from zydaflow import tokens
from zydaflow.provenance.commits import Store

BATCH_BYTES = 8 << 20
REFERENCE_BYTES = 16 << 20  # the slow library does 2 to 5 MB/s


def texts_of(files: list[str]) -> list[str]:
    if files:
        return [orjson.loads(line)["text"] for file in files for line in Path(file).open("rb")]
    sources = sorted(Path(os.__file__).parent.rglob("*.py"))
    return [path.read_text("utf-8", "replace") for path in sources if "site-packages" not in path.parts]


def batches_of(texts: list[str]) -> Iterator[pa.LargeStringArray]:
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text)
        if size >= BATCH_BYTES:
            yield pa.array(waiting, pa.large_string())
            waiting, size = [], 0
    if waiting:
        yield pa.array(waiting, pa.large_string())


def timed(what: str, size: int, work: Callable[[], Any], rounds: int = 1) -> tuple[Any, float]:
    """The result and the rate of the fastest round; encoding has one, since its library remembers words."""
    rate = 0.0
    for _ in range(rounds):
        begin = time.perf_counter()
        result = work()
        rate = max(rate, size / (time.perf_counter() - begin) / 1e6)
    print(f"{what:34} {rate:8.1f} MB/s of text ({size / 1e6:.1f} MB)")
    return result, rate


def rows_of(texts: pa.LargeStringArray) -> pa.Table:
    """What the writer is given with a batch, apart from its tokens."""
    count = len(texts)
    nothing = pa.nulls(count, pa.string())
    return pa.table(
        {
            "text": texts,
            "license": nothing,
            "id": nothing,
            "file": pa.array(["benchmark.jsonl"] * count),
            "position": pa.array(np.arange(count)),
            "text_hash": pa.array([bytes(16)] * count, pa.binary(16)),
            "n_duplicates": pa.array(np.zeros(count, np.int64)),
            "duplicate_sources": pa.array([[]] * count, pa.list_(pa.uint16())),
        }
    )


def write(schema: pa.Schema, tables: list[pa.Table], encoded: list[tokens.Encoded]) -> int:
    """One shard of all batches, with its checksum. Returns the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder, Store(folder).create("corpus") as out:
        writer = tokens.ShardWriter(out, schema)
        for rows, ids in zip(tables, encoded, strict=True):
            for batch in tokens.token_batches(schema, rows, "benchmark", ids, ["benchmark"]):
                writer.write(batch)
        writer.finish()
        return out.finish("corpus/shard.arrow", sum(map(len, tables))).bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", help="default: one of 8,192 ids, trained on the text")
    parser.add_argument("files", nargs="*", metavar="FILE.jsonl", help="JSON lines with a text column")
    arguments = parser.parse_args()
    batches = list(batches_of(texts_of(arguments.files)))
    size = sum(batch.get_total_buffer_size() - 8 * (len(batch) + 1) for batch in batches)
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.tokenizer:
            content, _ = timed("train, 8,192 ids", size, lambda: tokens.train(batches, 8192))
            (Path(folder) / "tokenizer.json").write_text(content)
        tokenizer = tokens.load(arguments.tokenizer or folder)
        reference = tokenizers.Tokenizer.from_file(str(tokenizer.path))
    print(f"{tokenizer.vocab_size} ids, {tokenizer.backend} {tokenizer.note}")
    encoded, fast = timed(f"encode, {tokenizer.backend}", size, lambda: [tokenizer.encode(b) for b in batches])
    some = [text for batch in batches for text in batch.to_pylist()][:: max(1, size // REFERENCE_BYTES)]
    compared = sum(len(text.encode()) for text in some)
    _, slow = timed("encode, tokenizers", compared, lambda: [len(e.ids) for e in reference.encode_batch_fast(some)])
    print(f"{'ratio':34} {fast / slow:8.1f}")
    schema, tables = tokens.token_schema(tokenizer.dtype, True, []), [rows_of(batch) for batch in batches]
    written, _ = timed("write a shard with text, hashed", size, lambda: write(schema, tables, encoded), 3)
    print(f"{sum(len(e.ids) for e in encoded):,} tokens, {written / 1e6:.1f} MB written")


if __name__ == "__main__":
    main()
