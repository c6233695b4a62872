"""Streaming decompression that takes a file only for whole: a missing end or something after it is an error."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

READ = 2**20
ZSTD_READ = 2**13  # one call expands all that it is given, at most some 30,000 times
CHECKSUM_ERRORS = ("incorrect data check", "incorrect length check", "match checksum")  # of zlib and zstd
ZSTD_WINDOW = 2**31  # what `zstd --long=31` needs


class BrokenStreamError(ValueError):
    """The compressed stream ends too early or holds something else; the message says which."""


def gzip_blocks(file: BinaryIO, block_bytes: int) -> Iterator[bytes]:
    """The decompressed bytes of a gzip file of any number of members, in blocks of at most `block_bytes`.

    Raises BrokenStreamError after the last good block.
    """
    member = zlib.decompressobj(wbits=31)
    ended = False
    while data := file.read(READ):
        while data := data.lstrip(b"\0") if ended else data:  # zeros may follow a member
            try:
                block = member.decompress(data, block_bytes)
            except zlib.error as error:
                raise BrokenStreamError(_wrong("gzip", error)) from error
            if block:
                yield block
            data, ended = member.unused_data if member.eof else member.unconsumed_tail, member.eof
            if ended:
                member = zlib.decompressobj(wbits=31)
    if rest := member.flush():
        yield rest
    if not (ended or member.eof):
        raise BrokenStreamError("the gzip data end too early: the file is cut short")


def zstd_blocks(file: BinaryIO) -> Iterator[bytes]:
    """The decompressed bytes of a zstd file of any number of frames, in blocks of whatever size.

    Raises BrokenStreamError after the last good block.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = decompressor.decompressobj()
    ended = False
    while data := file.read(ZSTD_READ):
        while data:
            try:
                block = frame.decompress(data)
            except zstandard.ZstdError as error:
                raise BrokenStreamError(_wrong("zstd", error)) from error
            if block:
                yield block
            data, ended = frame.unused_data, frame.eof
            if ended:
                frame = decompressor.decompressobj()
    if not ended:
        raise BrokenStreamError("the zstd data end too early: the file is cut short")


def _wrong(form: str, error: Exception) -> str:
    if any(sign in str(error) for sign in CHECKSUM_ERRORS):
        return f"the {form} data are damaged: they differ from their checksum ({error})"
    return f"not {form} data, or damaged ({error})"


def gathered(blocks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """The same bytes in blocks of `block_bytes` or somewhat more."""
    pieces: list[bytes] = []
    size = 0
    try:
        for block in blocks:
            pieces.append(block)
            size += len(block)
            if size >= block_bytes:
                yield b"".join(pieces)
                pieces, size = [], 0
    except BrokenStreamError:
        if pieces:
            yield b"".join(pieces)
        raise
    if pieces:
        yield b"".join(pieces)
