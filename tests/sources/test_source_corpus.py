"""Real data in every form, read whole and in pieces."""

import pytest
from reading import read, spec

from zydaflow.sources import plan_dataset

DATASETS = {  # path: (text column, documents, MB of text)
    "digitalgov": ("text", 2500, 12.7),
    "agency-blog.parquet": ("content", 552, 3.6),
    "peps.jsonl.gz": ("raw_content", 703, 13.9),
    "eips.jsonl": ("text", 949, 6.2),
    "rust-rfcs": ("text", 648, 9.2),
    "statutes.parquet": ("text", 9000, 7.9),
    "papers.jsonl.zst": ("text", 122, 5.5),
    "news.jsonl": ("text", 295, 1.3),
    "code-a.parquet": ("content", 889, 6.8),
    "code-b.parquet": ("content", 894, 6.6),
    "udhr.jsonl": ("text", 387, 5.7),
}


@pytest.mark.parametrize("name", DATASETS)
def test_every_document_is_read_in_whatever_pieces(shared_data, name):
    text, documents, megabytes = DATASETS[name]
    path = shared_data / "corpus" / name
    columns = plan_dataset(spec(path, text=text), 10**9).columns
    keys = {"text": text, "metadata": tuple(column for column in columns if column != text)}
    whole = read(path, **keys)
    assert len(whole.rows) == documents
    assert round(sum(len(value.encode()) for value in whole.texts) / 1e6, 1) == megabytes
    assert (whole.bad, whole.repaired, whole.sampled_out) == ([], 0, 0)
    assert all(whole.metadata)
    pieces = read(path, shard_bytes=700_000, part_bytes=900_000, batch_bytes=300_000, **keys)
    assert pieces.rows == whole.rows
