"""Commit records: what a unit of work made, written last, so that a record exists only when everything in it does.

A record lies in `commits/<stage>/<unit>.<fingerprint>.json` below the output folder. Resuming, reusing, statistics and
verification read these records and nothing else.
"""

import contextlib
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson
import pyarrow as pa
import xxhash
from upath import UPath

from zydaflow.errors import ZydaflowError
from zydaflow.provenance.behind import Behind
from zydaflow.storage import (
    TEMPORARY,
    AnyPath,
    below,
    contents,
    files_below,
    is_local,
    mapped,
    path_of,
    publish,
    read,
    remove,
    size_of,
)

SCHEMA_VERSION = 1
NODE = "ZYDAFLOW_NODE"
SYNCED = 2**24  # bytes of a file that are brought to the disk at a time, while it is being written


class DamagedArtefact(ZydaflowError):
    """A committed file is missing, short, or differs from its checksum."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, what)
        self.path, self.what = path, what

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass(frozen=True)
class Artefact:
    """One committed file: path relative to the output folder, size in bytes, xxh3-128 of its bytes, rows."""

    path: str
    bytes: int
    xxh3: str
    rows: int


@dataclass(frozen=True)
class Record:
    """What one unit of one stage made. `counts` are integers that add up over units; later stages need the `facts`.

    `node` is where it was made, as `this_node` tells: the one thing in which two records of the same work may differ.
    """

    stage: str
    unit: str
    fingerprint: str
    artefacts: dict[str, Artefact] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    node: str = ""

    @property
    def name(self) -> str:
        """Where it lies below the root."""
        return _record_name(self.stage, self.unit, self.fingerprint)

    def to_json(self) -> bytes:
        """The record, with its own checksum."""
        artefacts = {name: vars(artefact) for name, artefact in self.artefacts.items()}
        body = {"schema": SCHEMA_VERSION, **vars(self), "artefacts": artefacts}
        return orjson.dumps({"record": body, "xxh3": _checksum(body)}, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def from_json(cls, data: bytes) -> "Record":
        """Raises ValueError, KeyError or TypeError for anything that is not a whole record."""
        whole = orjson.loads(data)
        fields = whole["record"]
        if whole["xxh3"] != _checksum(fields) or fields.pop("schema") != SCHEMA_VERSION:
            raise ValueError("a record that is damaged, or of another version")
        fields["artefacts"] = {k: Artefact(**a) for k, a in fields["artefacts"].items()}
        return cls(**fields)


def this_node() -> str:
    """The node that this process works on: host name and Ray's id of it, as the engine says, or the host name alone."""
    return os.environ.get(NODE) or socket.gethostname()


def _checksum(body: dict[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(orjson.dumps(body, option=orjson.OPT_SORT_KEYS))


def file_name(unit: str) -> str:
    """A name for the file system: the readable end of the unit's name, and a hash of all of it."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", unit)[-80:]
    return f"{readable}-{xxhash.xxh3_64_hexdigest(unit.encode())[:10]}"


def _record_name(stage: str, unit: str, fingerprint: str) -> str:
    return f"commits/{stage}/{file_name(unit)}.{fingerprint[:12]}.json"


class Output:
    """A file being written, which hashes what passes through. It gets a name only by `finish`."""

    def __init__(self, store: "Store", folder: str) -> None:
        root = store.root
        self._store, self._hash, self._bytes = store, xxhash.xxh3_128(), 0
        self._finished, self._synced = False, 0
        self._lasting = not folder.startswith(("work", "commits"))
        self._temporary: Path | None = None
        if is_local(root):
            (root / folder).mkdir(parents=True, exist_ok=True)
            self._temporary = Path(str(root), folder, f"{TEMPORARY}{secrets.token_hex(6)}")
            self._file: IO[bytes] = self._temporary.open("wb")
        else:
            self._file = tempfile.TemporaryFile(prefix=TEMPORARY)  # noqa: SIM115
        self.closed = False

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._hash.update(view)
        self._bytes += len(view)
        self._file.write(view)
        if self._lasting and self._bytes - self._synced >= SYNCED:
            self._synced = self._bytes
            self._file.flush()
            self._store.hand_over(self._sync, lambda: None)
        return len(view)

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._bytes

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Arrow closes what it was given to write to; here only `finish` and `discard` end a file."""

    def finish(self, relative: str, rows: int) -> Artefact:
        """Closes the file, gives it its final name below the root, and says what a record needs to name it.

        In a power failure a record does not outlive what it names, but for files in `work/`, which are many and large:
        these then come out short, so that `find` passes over the record, or differ from their checksum when they are
        read, and are made again. A record itself is whole or none, by its own checksum.
        """
        self._file.flush()
        self._finished = True
        self._store.hand_over(partial(self._give_name, relative), self._close)
        return Artefact(relative, self._bytes, self._hash.hexdigest(), rows)

    def _give_name(self, relative: str) -> None:
        try:
            if self._temporary is None:
                publish(self._file, self._store.root / relative)
                return
            self._sync()
            final = Path(str(self._store.root), relative)
            final.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._temporary, final)
        finally:
            self._close()

    def _sync(self) -> None:
        if self._lasting and self._temporary is not None and not self._file.closed:
            os.fsync(self._file.fileno())

    def discard(self) -> None:
        """Removes what was written, unless it was finished."""
        if not self._finished:
            self._close()

    def _close(self) -> None:
        try:
            self._file.close()
        finally:
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)


class Store:
    """The output folder of one run: a local path, or any fsspec URL."""

    def __init__(self, root: AnyPath) -> None:
        self.root = path_of(root)
        self._behind: Behind | None = None

    def __reduce__(self) -> tuple[type["Store"], tuple[str]]:
        return Store, (str(self.root),)

    def path(self, relative: str) -> UPath:
        """Of a file below the root; the file of another folder is named by its whole path or URL."""
        self._settle()
        return below(self.root, relative)

    def create(self, folder: str) -> Output:
        """A new file whose final place will be in this folder below the root."""
        return Output(self, folder)

    @contextlib.contextmanager
    def behind(self) -> Iterator[None]:
        """Inside, files are finished and records committed by a thread, in order, while the work goes on.

        All is there at the end, and whenever the store is asked for a file. Raises what finishing raised.
        """
        self._behind = Behind()
        try:
            yield
            self._settle()
        finally:
            self._behind.finish()
            self._behind = None

    def hand_over(self, work: Callable[[], None], give_up: Callable[[], None]) -> None:
        """Does the work, or has it done where that is `behind`; `give_up` comes in its place after a failure."""
        if self._behind is None:
            work()
        else:
            self._behind.hand_over(work, give_up)

    def _settle(self) -> None:
        if self._behind is not None:
            self._behind.settle()

    def write(self, relative: str, data: bytes) -> Artefact:
        """Writes a small file whole."""
        with self.create(os.path.dirname(relative)) as out:
            out.write(data)
            return out.finish(relative, rows=0)

    def map(self, artefact: Artefact) -> pa.Buffer:
        """The committed file's bytes, memory-mapped and checked. Raises DamagedArtefact."""
        path = self.path(artefact.path)
        size = size_of(path)
        if size is None:
            raise DamagedArtefact(artefact.path, "is missing")
        if size != artefact.bytes:
            raise DamagedArtefact(artefact.path, f"has {size} bytes, not {artefact.bytes}")
        if artefact.bytes == 0:
            return pa.py_buffer(b"")
        data = mapped(path, size)
        if xxhash.xxh3_128_hexdigest(memoryview(data)) != artefact.xxh3:
            raise DamagedArtefact(artefact.path, "differs from its checksum")
        return data

    def intact(self, artefact: Artefact) -> bool:
        """Whether the file is there with its size: the cheap look before a unit is taken as done."""
        return size_of(self.path(artefact.path)) == artefact.bytes

    def commit(self, record: Record) -> Record:
        """Makes the unit's work count. Everything that the record names must be in its place before."""
        record = replace(record, node=this_node())
        self.write(record.name, record.to_json())
        return record

    def find(self, stage: str, unit: str, fingerprint: str) -> Record | None:
        """The unit's record if the work was done with this fingerprint and its files are there."""
        record = read_record(self.path(_record_name(stage, unit, fingerprint)))
        if record is None or record.fingerprint != fingerprint or record.unit != unit:
            return None
        return record if all(self.intact(a) for a in record.artefacts.values()) else None

    def learn(self) -> None:
        """Takes note of what others have committed or withdrawn; here every look is at the files themselves."""

    def withdraw(self, record: Record) -> None:
        """Makes the unit's work not count any more; its files stay until they are replaced or swept."""
        remove([self.path(record.name)])

    def withdraw_artefacts(self, *paths: str) -> dict[str, str]:
        """Withdraws every record that names one of these files, so that they are made again.

        Returns where each of them was made.
        """
        nodes: dict[str, str] = {}
        wanted = set(paths)
        for record in list(self.records()):
            named = [artefact.path for artefact in record.artefacts.values() if artefact.path in wanted]
            if named:
                nodes |= dict.fromkeys(named, record.node)
                self.withdraw(record)
        return nodes

    def gone(self) -> Iterator[DamagedArtefact]:
        """The files that records name and that are not there, or not with their size."""
        for record in self.records():
            for artefact in record.artefacts.values():
                if not self.intact(artefact):
                    yield DamagedArtefact(artefact.path, "is missing or short")

    def records(self, stage: str = "*") -> Iterator[Record]:
        """All readable records of a stage, or of all stages, in the order of their paths."""
        folder = self.path("commits") if stage == "*" else self.path(f"commits/{stage}")
        for _, data in contents(folder, (name for name in files_below(folder) if name.endswith(".json"))):
            record = parse_record(data)
            if record is not None:
                yield record


def read_record(path: UPath) -> Record | None:
    """The record in a file; None where there is none or it is torn, which is the same: the work is not done.

    Raises OSError where the storage cannot say.
    """
    try:
        return parse_record(read(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def parse_record(data: bytes) -> Record | None:
    """The record that a file holds; None for a torn one."""
    try:
        return Record.from_json(data)
    except (ValueError, KeyError, TypeError):
        return None
