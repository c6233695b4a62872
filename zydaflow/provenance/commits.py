"""Commit records: what a unit of work made, written last, so that a record exists only when everything in it does.

A record lies in `commits/<stage>/<unit>.<fingerprint>.json` below the output folder. Resuming, reusing, statistics and
verification read these records and nothing else.
"""

import os
import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import xxhash

from zydaflow.errors import ZydaflowError

SCHEMA_VERSION = 1
TEMPORARY = ".zydaflow-tmp-"
NODE = "ZYDAFLOW_NODE"


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

    def to_json(self) -> bytes:
        """The record, with its own checksum."""
        body = {"schema": SCHEMA_VERSION, **asdict(self)}
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


class Output:
    """A file being written, which hashes what passes through. It gets a name only by `finish`."""

    def __init__(self, root: Path, folder: str) -> None:
        self._root, self._hash, self._bytes = root, xxhash.xxh3_128(), 0
        (root / folder).mkdir(parents=True, exist_ok=True)
        self._temporary = root / folder / f"{TEMPORARY}{secrets.token_hex(6)}"
        self._file = self._temporary.open("wb")
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
        read, and are made again.
        """
        self._file.flush()
        if not relative.startswith("work/"):
            os.fsync(self._file.fileno())
        self._file.close()
        final = self._root / relative
        final.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self._temporary, final)
        return Artefact(relative, self._bytes, self._hash.hexdigest(), rows)

    def discard(self) -> None:
        """Removes what was written, unless it was finished."""
        try:
            self._file.close()
        finally:
            self._temporary.unlink(missing_ok=True)


class Store:
    """The output folder of one run."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def __reduce__(self) -> tuple[type["Store"], tuple[str]]:
        return Store, (str(self.root),)

    def path(self, relative: str) -> Path:
        return self.root / relative

    def create(self, folder: str) -> Output:
        """A new file whose final place will be in this folder below the root."""
        return Output(self.root, folder)

    def write(self, relative: str, data: bytes) -> Artefact:
        """Writes a small file whole."""
        with self.create(os.path.dirname(relative)) as out:
            out.write(data)
            return out.finish(relative, rows=0)

    def map(self, artefact: Artefact) -> pa.Buffer:
        """The committed file's bytes, memory-mapped and checked. Raises DamagedArtefact."""
        path = self.path(artefact.path)
        if not path.exists():
            raise DamagedArtefact(artefact.path, "is missing")
        if path.stat().st_size != artefact.bytes:
            raise DamagedArtefact(artefact.path, f"has {path.stat().st_size} bytes, not {artefact.bytes}")
        if artefact.bytes == 0:
            return pa.py_buffer(b"")
        with pa.memory_map(str(path)) as file:
            data = file.read_buffer()
        if xxhash.xxh3_128_hexdigest(memoryview(data)) != artefact.xxh3:
            raise DamagedArtefact(artefact.path, "differs from its checksum")
        return data

    def intact(self, artefact: Artefact) -> bool:
        """Whether the file is there with its size: the cheap look before a unit is taken as done."""
        try:
            return self.path(artefact.path).stat().st_size == artefact.bytes
        except OSError:
            return False

    def _record_path(self, stage: str, unit: str, fingerprint: str) -> Path:
        return self.path(f"commits/{stage}/{file_name(unit)}.{fingerprint[:12]}.json")

    def record_path(self, record: Record) -> Path:
        """Where the record lies."""
        return self._record_path(record.stage, record.unit, record.fingerprint)

    def commit(self, record: Record) -> Record:
        """Makes the unit's work count. Everything that the record names must be in its place before."""
        record = replace(record, node=this_node())
        path = self.record_path(record)
        self.write(str(path.relative_to(self.root)), record.to_json())
        return record

    def find(self, stage: str, unit: str, fingerprint: str) -> Record | None:
        """The unit's record if the work was done with this fingerprint and its files are there."""
        record = read_record(self._record_path(stage, unit, fingerprint))
        if record is None or record.fingerprint != fingerprint or record.unit != unit:
            return None
        return record if all(self.intact(a) for a in record.artefacts.values()) else None

    def withdraw(self, record: Record) -> None:
        """Makes the unit's work not count any more; its files stay until they are replaced or swept."""
        self.record_path(record).unlink(missing_ok=True)

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
        for path in sorted(self.root.glob(f"commits/{stage}/*.json")):
            record = read_record(path)
            if record is not None:
                yield record


def read_record(path: Path) -> Record | None:
    """The record in a file; None where there is none or it is torn, which is the same: the work is not done."""
    try:
        return Record.from_json(path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        return None
