"""Asking storage and networks again, which are busy or break off and recover, and telling that from what will not."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before each further try, give or take a half; clients have waits of theirs
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
NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound")  # of botocore
EXPIRED = "FileExpired"  # of s3fs: what is read is no longer what was opened
T = TypeVar("T")


def patiently(ask: Callable[[], T], passing: Callable[[Exception], bool]) -> T:
    """What `ask` gives; it is asked again, after each of `WAITS`, while it raises what is `passing`."""
    for wait in WAITS:
        try:
            return ask()
        except Exception as error:
            if not passing(error):
                raise
            time.sleep(wait * random.uniform(0.5, 1.5))  # those that were refused together come back apart
    return ask()


def from_storage(url: str, ask: Callable[[], T]) -> T:
    """What `ask` gets from the storage of `url`, asked patiently.

    Raises ConnectionError, with the URL, for what might pass and did not; any other error as it is.
    """
    try:
        return patiently(ask, may_pass)
    except Exception as error:
        if may_pass(error):
            raise ConnectionError(f"{url}: {type(error).__name__}: {error}") from error
        raise


def may_pass(error: BaseException) -> bool:
    """Whether the storage or the network failed in a way that may be over at the next try."""
    if isinstance(error, FileNotFoundError) and error.__cause__ is not None:  # fsspec hides behind it what HTTP said
        return may_pass(error.__cause__)
    if isinstance(error, (*GONE, ValueError)) or is_final(error) or type(error).__name__ == EXPIRED:
        return False
    return isinstance(error, OSError) or is_network_error(error)


def is_final(error: BaseException) -> bool:
    """Whether the answer is no, and will be."""
    return status_of(error) in FINAL_STATUS or type(error).__name__ in NO_CREDENTIALS


def is_network_error(error: BaseException) -> bool:
    """Whether a network client raised it."""
    return type(error).__module__.split(".")[0] in NETWORK


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error carries, in any of the ways that clients have."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return getattr(error, "status", None) or getattr(response, "status_code", None)
