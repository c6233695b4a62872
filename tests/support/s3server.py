"""A real S3 server, in a process that ends with the one that starts it."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROCESS = Path(__file__).parent / "s3process.py"


def environment(url: str) -> dict[str, str]:
    """The variables by which s3fs, here and in the workers of a Ray that starts here, finds the server at `url`."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """The URL of a server without a bucket."""
    process = subprocess.Popen([sys.executable, str(PROCESS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), "the S3 server did not start; its error is above"
        yield url
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=20)
