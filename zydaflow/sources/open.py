"""Opening input files, local ones and those of any fsspec URL, and what their errors mean."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import fsspec
import pyarrow as pa

from zydaflow.errors import InputError
from zydaflow.sources.shard import Shard

REMOTE_BLOCK = 8 * 2**20  # bytes fetched at a time
GONE = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
FINAL_STATUS = (401, 403, 404, 410)  # of HTTP: asking again will not help
NETWORK = (
    "aiohttp",
    "botocore",
    "httpcore",
    "httpx",
    "httpx2",
    "requests",
    "urllib3",
)  # their errors are not all OSErrors


def is_local(url: str) -> bool:
    """Whether it is a path of this machine, not a URL."""
    return "://" not in url


def local_version(status: os.stat_result) -> str:
    """What changes when a local file does."""
    return f"{status.st_size}-{status.st_mtime_ns}"


@contextmanager
def opened(shard: Shard, block_bytes: int = REMOTE_BLOCK, cache: str = "readahead") -> Iterator[BinaryIO]:
    """The shard's file, checked to be what it was when the run was planned: by its size, a local one by its version.

    `block_bytes` and `cache` (of fsspec) say how a remote file is fetched.

    Whatever goes wrong inside is raised as InputError where the file is missing or damaged, and as OSError where the
    storage or the network failed and may recover.
    """
    with explained(shard.url), _open(shard.url, block_bytes, cache) as file:
        size = file.seek(0, os.SEEK_END) if shard.size >= 0 else shard.size
        if size != shard.size:
            raise InputError(
                f"{shard.url}: has {size:,} bytes, had {shard.size:,} when the run was planned; plan again"
            )
        if is_local(shard.url) and local_version(os.fstat(file.fileno())) != shard.version:
            raise InputError(f"{shard.url}: was written again since the run was planned; plan again")
        if size > 0:
            file.seek(0)
        yield file


def _open(url: str, block_bytes: int, cache: str) -> BinaryIO:
    if is_local(url):
        return open(url, "rb")
    fs, path = fsspec.url_to_fs(url)
    return fs.open(path, "rb", block_size=block_bytes, cache_type=cache)


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turns errors of reading `url` into InputError or OSError, as in `opened`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if isinstance(error, GONE) or status_of(error) in FINAL_STATUS:
            raise InputError(f"{url}: cannot be read: {error or type(error).__name__}") from error
        if _is_refusal(error, url):
            raise InputError(f"{url}: damaged, cut short, or not what its name says: {error}") from error
        if isinstance(error, ValueError) and url.startswith("http"):
            raise InputError(
                f"{url}: the server hands out files from their beginning alone ({error}); download it first, and name "
                "the local file"
            ) from error
        if is_network_error(error) and not isinstance(error, OSError):
            raise ConnectionError(f"{url}: {type(error).__name__}: {error}") from error
        raise


def _is_refusal(error: Exception, url: str) -> bool:
    """Whether pyarrow refused the data. Its decoders also raise a bare OSError, as remote storage may."""
    if isinstance(error, pa.ArrowException):
        return not isinstance(error, MemoryError)
    return type(error) is OSError and error.errno is None and is_local(url)


def is_network_error(error: BaseException) -> bool:
    """Whether a network client raised it."""
    return type(error).__module__.split(".")[0] in NETWORK


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error carries, in either of the ways that clients have."""
    return getattr(error, "status", None) or getattr(getattr(error, "response", None), "status_code", None)
