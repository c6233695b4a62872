"""Files at URLs: a file system in memory, a web server, and protocols whose package is missing."""

import contextlib
import functools
import gzip
import http.server
import sys
import threading

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.registry import _registry
from reading import read, spec

from zydaflow import patience
from zydaflow.errors import InputError, RunError
from zydaflow.sources import plan_dataset, read_shard

TEXTS = [f"text {i}" for i in range(100)]
LINES = "".join(f'{{"text": "{text}"}}\n' for text in TEXTS).encode()


@pytest.fixture
def memory():
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pipe_file("/d/b.jsonl", LINES)
    fs.pipe_file("/d/sub/a.jsonl.gz", gzip.compress(LINES))
    fs.pipe_file("/d/.hidden.jsonl", LINES)
    table = pa.table({"text": TEXTS, "id": range(100)})
    with fs.open("/p/a.parquet", "wb") as file:
        pq.write_table(table, file, row_group_size=30)
    with fs.open("/p/b.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    with fs.open("/p/c.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    yield fs
    fs.store.clear()


def test_a_folder_and_a_glob_of_a_remote_file_system(memory):
    plan = plan_dataset(spec("memory://d"), 1000)
    assert [(file.url, file.file) for file in plan.files] == [
        ("memory:///d/b.jsonl", "b.jsonl"),
        ("memory:///d/sub/a.jsonl.gz", "sub/a.jsonl.gz"),
    ]
    assert read("memory://d", shard_bytes=300, batch_bytes=200).texts == TEXTS * 2
    assert [file.file for file in plan_dataset(spec("memory://d/*/*.gz"), 1000).files] == ["sub/a.jsonl.gz"]
    assert [file.file for file in plan_dataset(spec("memory://d/b.jsonl"), 1000).files] == ["b.jsonl"]


def test_parquet_and_arrow_of_a_remote_file_system(memory):
    got = read("memory://p", shard_bytes=500, id="id")
    assert got.texts == TEXTS * 3
    assert got.ids == [str(i) for i in range(100)] * 3
    assert got.positions == [*range(100)] * 3


def test_a_remote_stream_without_its_end_is_refused(memory):
    data = memory.cat_file("/p/b.arrow")
    memory.pipe_file("/p/b.arrow", data[:-8])
    with pytest.raises(InputError, match="no end mark"):
        read("memory://p/b.arrow")


def test_a_path_that_matches_nothing_is_named(memory):
    with pytest.raises(InputError, match="there is no file or folder memory://nothing"):
        read("memory://nothing")


def test_a_file_that_went_is_an_input_error(memory):
    dataset = spec("memory://d/b.jsonl")
    (shard,) = plan_dataset(dataset, 10**6).shards
    memory.rm("/d/b.jsonl")
    with pytest.raises(InputError, match=r"memory:///d/b\.jsonl: cannot be read"):
        list(read_shard(shard, dataset, part_bytes=10**6, seed=1))


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(patience, "WAITS", (0.0, 0.0))


@pytest.mark.parametrize("failure", [TimeoutError("slow"), OSError(5, "I/O error"), OSError("no number")])
def test_a_failure_that_does_not_pass_names_the_file_and_the_cause(memory, monkeypatch, impatient, failure):
    dataset = spec("memory://d/b.jsonl")
    (shard,) = plan_dataset(dataset, 10**6).shards

    tries = []

    def fail(*args, **keys):
        tries.append(args)
        raise failure

    monkeypatch.setattr(type(memory), "open", fail)
    with pytest.raises(ConnectionError) as caught:
        list(read_shard(shard, dataset, part_bytes=10**6, seed=1))
    assert str(caught.value) == f"memory:///d/b.jsonl: {type(failure).__name__}: {failure}"
    assert len(tries) == 3


@pytest.mark.parametrize("answer", [LINES, LINES[:-1] + b" "])
def test_a_file_that_was_written_again_is_an_input_error(memory, answer):
    dataset = spec("memory://d/b.jsonl")
    (shard,) = plan_dataset(dataset, 10**6).shards
    memory.pipe_file("/d/b.jsonl", answer)
    with pytest.raises(InputError, match=r"memory:///d/b\.jsonl: was written again since the run was planned"):
        list(read_shard(shard, dataset, part_bytes=10**6, seed=1))


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, with ranges."""

    def do_GET(self):
        path = self.translate_path(self.path)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return self.send_error(404)
        start, stop = 0, len(data)
        if wanted := self.headers.get("Range"):
            low, high = wanted.removeprefix("bytes=").split("-")
            start, stop = int(low), min(int(high) + 1, stop) if high else stop
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
        self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        return self.wfile.write(data[start:stop]) if self.command == "GET" else None

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *args):
        pass


class Plain(http.server.SimpleHTTPRequestHandler):
    """Serves a folder as `python -m http.server` does, without ranges."""

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serving(handler, folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def web(tmp_path):
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    (tmp_path / "a.jsonl").write_bytes(LINES)
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "b.parquet", row_group_size=30)
    with serving(Ranges, tmp_path) as url:
        yield url


def test_files_of_a_web_server(web):
    assert read(f"{web}/a.jsonl", shard_bytes=700).texts == TEXTS
    assert read(f"{web}/b.parquet", shard_bytes=200).texts == TEXTS
    assert plan_dataset(spec(f"{web}/a.jsonl"), 700).files[0].file == "a.jsonl"
    with pytest.raises(InputError, match="there is no file or folder"):
        read(f"{web}/c.jsonl")


@pytest.mark.parametrize("name", ["a.jsonl", "b.parquet"])
def test_a_server_without_ranges_is_said_with_what_to_do(tmp_path, name):
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    (tmp_path / "a.jsonl").write_bytes(LINES * 10_000)
    pq.write_table(pa.table({"text": [str(i) for i in range(10**6)]}), tmp_path / "b.parquet")
    with serving(Plain, tmp_path) as web:
        message = f"{web}/{name}: the server hands out files from their beginning alone .*; download it first"
        with pytest.raises(InputError, match=message):
            read(f"{web}/{name}", shard_bytes=10**6)


def test_a_server_that_cannot_be_reached_may_be_there_later(impatient):
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    with pytest.raises(RunError, match=r"http://127\.0\.0\.1:9/a\.jsonl.*run the same command again"):
        read("http://127.0.0.1:9/a.jsonl")


@pytest.mark.parametrize(("url", "package"), [("s3://b/a.jsonl", "s3fs"), ("gs://b/a.jsonl", "gcsfs")])
def test_a_missing_package_is_named_with_how_to_install_it(url, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    monkeypatch.delitem(_registry, url.partition(":")[0], raising=False)  # nor used before
    with pytest.raises(InputError, match=f"pip install {package}"):
        plan_dataset(spec(url), 100)


def test_an_unknown_protocol_is_named():
    with pytest.raises(InputError, match=r"nope://b/a\.jsonl: Protocol not known: nope"):
        plan_dataset(spec("nope://b/a.jsonl"), 100)
