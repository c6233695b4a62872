"""Compressed JSON Lines: whole files, parts of them, and files that are not whole."""

import gzip
import itertools
import json
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import jsonl, read, spec

from zydaflow.errors import InputError
from zydaflow.sources import plan_dataset, read_shard
from zydaflow.sources.open import local_version

TEXTS = [f"record {i} " + "word " * (i % 40) for i in range(400)]
DATA = jsonl({"text": text} for text in TEXTS)
COMPRESS = {".jsonl.gz": gzip.compress, ".jsonl.zst": zstandard.ZstdCompressor().compress}


@pytest.fixture(params=COMPRESS)
def suffix(request):
    return request.param


def write(folder, suffix, packed):
    path = folder / f"a{suffix}"
    path.write_bytes(packed)
    return path


def test_the_records_and_their_offsets_in_the_decompressed_bytes(tmp_path, suffix):
    got = read(write(tmp_path, suffix, COMPRESS[suffix](DATA)), batch_bytes=1000)
    assert got.texts == TEXTS
    lengths = [len(json.dumps({"text": text})) + 1 for text in TEXTS]
    assert got.positions == [0, *itertools.accumulate(lengths[:-1])]


def test_several_members_or_frames_are_one_file(tmp_path, suffix):
    pack = COMPRESS[suffix]
    packed = pack(DATA[:5001]) + pack(b"") + pack(DATA[5001:])
    assert read(write(tmp_path, suffix, packed)).texts == TEXTS


def test_a_file_of_nothing_packed_is_an_empty_dataset(tmp_path, suffix):
    assert read(write(tmp_path, suffix, COMPRESS[suffix](b""))).batches == []


@pytest.mark.parametrize("keep", [0.0, 0.3, 2 / 3, 0.999])
def test_a_file_cut_short_is_an_error_after_the_records_before(tmp_path, suffix, keep):
    packed = COMPRESS[suffix](jsonl({"text": text, "n": i * 2654435761 % 2**32} for i, text in enumerate(TEXTS * 50)))
    whole = write(tmp_path, suffix, packed)
    dataset = spec(whole)
    (shard,) = plan_dataset(dataset, 10**9).shards
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(packed[: int(len(packed) * keep)])
    status = path.stat()
    cut = replace(shard, url=str(path), size=status.st_size, version=local_version(status))
    batches = read_shard(cut, dataset, part_bytes=10**9, seed=1, batch_bytes=10_000)
    texts: list[str] = []
    with pytest.raises(InputError, match=r"cut short\. The last whole record ends at byte [\d,]+ of") as caught:
        texts.extend(text for batch in batches for text in batch.records["text"].to_pylist())
    assert str(path) in str(caught.value)
    assert texts == (TEXTS * 50)[: len(texts)]
    assert len(texts) < len(TEXTS) * 50
    if keep > 0.5:
        assert len(texts) > len(TEXTS) * 10


def test_the_last_good_position_is_that_of_the_last_whole_record(tmp_path):
    compressor = zstandard.ZstdCompressor().compressobj()
    packed = compressor.compress(b'{"text": "one"}\n{"text": "tw')
    packed += compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)  # and no end of the frame
    with pytest.raises(InputError, match="ends at byte 16 of"):
        read(write(tmp_path, ".jsonl.zst", packed))


def test_what_follows_the_end_is_an_error(tmp_path, suffix):
    with pytest.raises(InputError, match=r"not (gzip|zstd) data"):
        read(write(tmp_path, suffix, COMPRESS[suffix](DATA) + b"garbage"))


def test_a_file_that_is_not_compressed_is_an_error(tmp_path, suffix):
    with pytest.raises(InputError, match=r"not (gzip|zstd) data"):
        read(write(tmp_path, suffix, DATA))


def test_a_flipped_byte_is_an_error_where_there_is_a_checksum(tmp_path):
    rows = ({"text": text, "n": i * 2654435761 % 2**32} for i, text in enumerate(TEXTS * 20))
    data = jsonl(rows)  # enough of them that the fault lies behind what is looked at before a run
    for suffix, at in ((".jsonl.gz", -6), (".jsonl.zst", -1)):
        pack = zstandard.ZstdCompressor(write_checksum=True).compress if suffix == ".jsonl.zst" else gzip.compress
        packed = bytearray(pack(data))
        packed[at] ^= 1  # in the checksum
        with pytest.raises(
            InputError, match=r"damaged: they differ from their checksum .* ends at byte [1-9][\d,]+ of"
        ):
            read(write(tmp_path, suffix, bytes(packed)), batch_bytes=10_000)


def test_zeros_after_a_gzip_member_are_padding(tmp_path):
    pack = gzip.compress
    packed = pack(DATA[:5001]) + bytes(700) + pack(DATA[5001:]) + bytes(2_000_000)
    assert read(write(tmp_path, ".jsonl.gz", packed)).texts == TEXTS
    with pytest.raises(InputError, match="not gzip data"):
        read(write(tmp_path, ".jsonl.gz", bytes(10) + pack(DATA)))


@settings(derandomize=True, max_examples=40, deadline=None)
@given(part_bytes=st.integers(1, 3000), first=st.integers(0, 30), batch_bytes=st.integers(1, 2000))
def test_parts_hold_the_records_that_begin_in_them(tmp_path_factory, part_bytes, first, batch_bytes):
    path = tmp_path_factory.mktemp("parts") / "a.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl({"text": text} for text in TEXTS[:60])))
    whole = read(path)
    expected = [(row["position"] // part_bytes, row["text"]) for row in whole.rows]
    got = read(path, part_bytes=part_bytes, first_part=first, batch_bytes=batch_bytes)
    found = [(batch.part, text) for batch in got.batches for text in batch.records["text"].to_pylist()]
    assert found == [(part, text) for part, text in expected if part >= first]
    assert all(len(batch.records) for batch in got.batches)
