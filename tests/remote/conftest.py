"""An S3 server, the faults before it, and a bucket for each test."""

import uuid
from collections.abc import Iterator

import pytest
from s3faults import Faults, faults_before
from s3server import environment, s3_server

s3fs = pytest.importorskip("s3fs", reason="s3:// needs the extra s3")
pytest.importorskip("moto", reason="the S3 server is moto's")


@pytest.fixture(scope="session")
def s3_proxy() -> Iterator[Faults]:
    """The one server of all tests, behind its proxy."""
    with s3_server() as server, faults_before(server) as faults:
        yield faults


@pytest.fixture
def faults(s3_proxy: Faults, monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    """The faults that a test may order for S3, which is where the environment says from now on."""
    for name, value in environment(s3_proxy.url).items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    s3_proxy.clear()
    yield s3_proxy
    s3_proxy.clear()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def bucket(faults: Faults) -> str:
    """The URL of an empty bucket, like s3://NAME."""
    name = f"bucket-{uuid.uuid4().hex[:12]}"
    s3fs.S3FileSystem().mkdir(name)
    faults.clear()
    return f"s3://{name}"
