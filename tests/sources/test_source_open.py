"""What goes wrong while a file is read: whose fault it is decides whether it is tried again."""

import errno

import pyarrow as pa
import pytest

from zydaflow.errors import InputError
from zydaflow.sources.open import explained


class Refused(Exception):
    """As an HTTP client raises it."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


class Lost(Exception):
    """As aiohttp raises it: no OSError."""

    __module__ = "aiohttp.client_exceptions"


class FileExpired(OSError):
    """As s3fs raises it."""


class NoCredentialsError(Exception):
    """As botocore raises it."""

    __module__ = "botocore.exceptions"


def raised(error, url):
    with pytest.raises(Exception) as caught, explained(url):  # noqa: PT011
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "url", "words"),
    [
        (FileNotFoundError(2, "No such file"), "s3://b/a.jsonl", "cannot be read"),
        (PermissionError(13, "Permission denied"), "/d/a.jsonl", "cannot be read"),
        (Refused(404), "hf://datasets/o/n/a.jsonl", "cannot be read"),
        (Refused(403), "https://h/a.jsonl", "cannot be read"),
        (pa.ArrowInvalid("no magic bytes"), "s3://b/a.parquet", "damaged"),
        (OSError("corrupt page"), "/d/a.parquet", "damaged"),
        (OSError("corrupt page"), "s3://b/a.parquet", "damaged"),
        (FileExpired(16, "no longer exists"), "s3://b/a.parquet", "was written again"),
        (NoCredentialsError("Unable to locate credentials"), "s3://b/a.parquet", "cannot be read: Unable to"),
    ],
)
def test_what_will_not_change_is_an_input_error(error, url, words):
    found = raised(error, url)
    assert type(found) is InputError
    assert str(found).startswith(f"{url}: {words}")
    assert found.__cause__ is error


@pytest.mark.parametrize(
    ("error", "url"),
    [
        (TimeoutError("slow"), "s3://b/a.jsonl"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "s3://b/a.jsonl"),
        (OSError(errno.EIO, "Input/output error"), "/d/a.parquet"),
        (OSError(errno.EBUSY, "Slow down"), "s3://b/a.parquet"),
        (MemoryError(), "/d/a.parquet"),
        (pa.ArrowMemoryError("malloc failed"), "/d/a.parquet"),
        (ZeroDivisionError(), "/d/a.parquet"),
        (InputError("as it is"), "/d/a.parquet"),
    ],
)
def test_what_may_pass_and_what_is_unknown_stay_as_they_are(error, url):
    assert raised(error, url) is error


@pytest.mark.parametrize("error", [Lost("server disconnected"), Lost()])
def test_errors_of_the_network_are_os_errors(error):
    found = raised(error, "https://h/a.jsonl")
    assert type(found) is ConnectionError
    assert "https://h/a.jsonl: Lost" in str(found)
