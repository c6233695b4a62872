"""Opening input files, local ones and those of any fsspec URL, and what their errors mean."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import fsspec
import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.patience import EXPIRED, GONE, from_storage, is_final, is_network_error
from zydaflow.sources.shard import Shard
from zydaflow.unbroken import UnbrokenFile

REMOTE_BLOCK = 8 * 2**20  # bytes fetched at a time
VERSION_KEYS = (
    "ETag",
    "etag",
    "blob_id",
    "mtime",
    "LastModified",
    "last_modified",
    "Last-Modified",
    "created",
)  # of what file systems tell of a file; the first that there is


def is_local(url: str) -> bool:
    """Whether it is a path of this machine, not a URL."""
    return "://" not in url


def local_version(status: os.stat_result) -> str:
    """What changes when a local file does."""
    return f"{status.st_size}-{status.st_mtime_ns}"


def remote_version(info: Mapping[str, Any]) -> str:
    """What changes when a remote file does, of which its file system gives this `info`."""
    version = next((str(info[key]) for key in VERSION_KEYS if info.get(key) is not None), "")
    return f"{info.get('size')}-{version.strip(chr(34))}"  # listings may leave out an ETag's quotation marks


@contextmanager
def opened(shard: Shard, block_bytes: int = REMOTE_BLOCK, cache: str = "readahead") -> Iterator[BinaryIO]:
    """The shard's file, checked to be what it was when the run was planned: by its size and by its version.

    `block_bytes` and `cache` (of fsspec) say how a remote file is fetched.

    Whatever goes wrong inside is raised as InputError where the file is missing, damaged or another than it was, and as
    OSError where the storage or the network failed, and went on failing when it was asked again.
    """
    with explained(shard.url), _open(shard, block_bytes, cache) as file:
        size = file.seek(0, os.SEEK_END) if shard.size >= 0 else shard.size
        if size != shard.size:
            raise InputError(
                f"{shard.url}: has {size:,} bytes, had {shard.size:,} when the run was planned; plan again"
            )
        if _version(shard, file) != shard.version:
            raise InputError(_rewritten(shard.url))
        if size > 0:
            file.seek(0)
        whole = is_local(shard.url) or size < 0
        yield file if whole else cast(BinaryIO, UnbrokenFile(shard.url, file, size))


def _open(shard: Shard, block_bytes: int, cache: str) -> BinaryIO:
    if is_local(shard.url):
        return open(shard.url, "rb")
    fs, path = fsspec.url_to_fs(shard.url)
    return from_storage(shard.url, lambda: fs.open(path, "rb", block_size=block_bytes, cache_type=cache))


def _version(shard: Shard, file: BinaryIO) -> str:
    """The present version of the shard's file, which is open. A web server's stream tells none: as it was planned."""
    if is_local(shard.url):
        return local_version(os.fstat(file.fileno()))
    if shard.size < 0:
        return shard.version
    info = getattr(file, "details", {})  # what object stores said when it was opened
    if not any(key in info for key in VERSION_KEYS):
        fs, path = fsspec.url_to_fs(shard.url)
        info = from_storage(shard.url, lambda: fs.info(path))
    return remote_version(info)


def _rewritten(url: str) -> str:
    return f"{url}: was written again since the run was planned; plan again"


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turns errors of reading `url` into InputError or OSError, as in `opened`."""
    try:
        yield
    except (InputError, ConnectionError):
        raise
    except Exception as error:
        if type(error).__name__ == EXPIRED:
            raise InputError(_rewritten(url)) from error
        if isinstance(error, GONE) or is_final(error):
            raise InputError(f"{url}: cannot be read: {error or type(error).__name__}") from error
        if _is_refusal(error):
            raise InputError(f"{url}: damaged, cut short, or not what its name says: {error}") from error
        if isinstance(error, ValueError) and url.startswith("http"):
            raise InputError(
                f"{url}: the server hands out files from their beginning alone ({error}); download it first, and name "
                "the local file"
            ) from error
        if is_network_error(error) and not isinstance(error, OSError):
            raise ConnectionError(f"{url}: {type(error).__name__}: {error}") from error
        raise


def _is_refusal(error: Exception) -> bool:
    """Whether pyarrow refused the data. Its decoders also raise a bare OSError, as storage does not."""
    if isinstance(error, pa.ArrowException):
        return not isinstance(error, MemoryError)
    return type(error) is OSError and error.errno is None
