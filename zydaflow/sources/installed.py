"""Text that every Python environment has: sample data without a download.

Four kinds, each one dataset: `topics` (Python's own help texts), `descriptions` (of the installed packages), `licenses`
(their licence files, many of them copies) and `source` (code of the standard library and of the packages).
"""

import sysconfig
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from pydoc_data.topics import topics
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.errors import InputError
from zydaflow.sources import records
from zydaflow.sources.listing import InputFile
from zydaflow.sources.records import Bad, Columns
from zydaflow.sources.sample import Sample, kept
from zydaflow.sources.shard import Batch, Shard
from zydaflow.sources.splits import refuse_split

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

INSTALLED = "installed:"
INSTALLED_COLUMNS = ("id", "text")
LICENSE_NAMES = ("license", "licence", "copying", "notice", "authors", "thirdparty")
PROSE = ("", ".txt", ".md", ".rst")  # suffixes of licence files; others are code or translations of it


class Limit(NamedTuple):
    """How much is taken of a kind."""

    total: int  # bytes
    largest: int  # bytes of a single document


LIMITS = {
    "topics": Limit(2_000_000, 200_000),
    "descriptions": Limit(3_000_000, 200_000),
    "licenses": Limit(3_000_000, 200_000),
    "source": Limit(12_000_000, 12_000),  # short files, so that they are many
}


class Document(NamedTuple):
    """A text of this environment: in memory, or in a file."""

    id: str
    size: int  # bytes, of the whole file
    place: bytes | Path


def installed_file(dataset: "DatasetSpec") -> InputFile:
    """The kind of installed text that the dataset names, as one file; raises InputError for another or a split."""
    refuse_split(dataset)
    kind = dataset.path.removeprefix(INSTALLED)
    if kind not in LIMITS:
        raise InputError(f"dataset {dataset.name}: there is no {dataset.path}; the kinds are {', '.join(LIMITS)}")
    documents = documents_of(kind)
    return InputFile(dataset.path, kind, sum(document.size for document in documents), _version(documents))


def documents_of(kind: str) -> list[Document]:
    """The documents of a kind, sorted by id.

    Of what there is, those whose name has the smallest hash, as many as the kind's limit allows: a choice that hardly
    changes when a package comes or goes. The last two parts of the name are hashed, so that copies come together.
    """
    limit = LIMITS[kind]
    found = {document.id: document for document in _found(kind) if 0 < document.size <= limit.largest}
    chosen, size = [], 0
    for document in sorted(found.values(), key=lambda d: (_tail_hash(d.id), d.id)):
        size += document.size
        if size > limit.total:
            break
        chosen.append(document)
    return sorted(chosen)


def _tail_hash(name: str) -> int:
    return xxhash.xxh3_64_intdigest("/".join(name.split("/")[-2:]).encode("utf-8", "surrogateescape"))


def _version(documents: list[Document]) -> str:
    listing = "".join(f"{document.id}\t{document.size}\n" for document in documents)
    return xxhash.xxh3_64_hexdigest(listing.encode("utf-8", "surrogateescape"))


def _found(kind: str) -> Iterator[Document]:
    if kind == "topics":
        for name, text in topics.items():
            yield Document(name, len(text.encode()), text.encode())
    elif kind == "source":
        paths = sysconfig.get_paths()
        yield from _sources(Path(paths["stdlib"]), "stdlib")
        yield from _sources(Path(paths["purelib"]), "packages")
    else:
        yield from _package_files(kind)


def _sources(root: Path, prefix: str) -> Iterator[Document]:
    for path in root.rglob("*.py"):
        name = path.relative_to(root)
        if not {"site-packages", "dist-packages"} & set(name.parts):
            yield Document(f"{prefix}/{name.as_posix()}", path.stat().st_size, path)


def _package_files(kind: str) -> Iterator[Document]:
    """The METADATA or the licence files of the packages beside us (a worker's own search path may hold more)."""
    for package in distributions(path=[sysconfig.get_paths()["purelib"]]):
        for file in package.files or ():
            if kind == "descriptions":
                wanted = file.name == "METADATA" and file.parts[0].endswith(".dist-info")
            else:
                wanted = file.name.lower().startswith(LICENSE_NAMES) and file.suffix.lower() in PROSE
            if wanted:
                path = Path(str(file.locate()))
                if path.is_file():
                    yield Document(file.as_posix(), path.stat().st_size, path)


def read_installed(shard: Shard, columns: Columns, sample: Sample, batch_bytes: int) -> Iterator[Batch]:
    """The documents of a kind; position is the ordinal in the sorted listing, the id its name.

    Raises InputError where the environment is not the one that was planned with.
    """
    documents = documents_of(shard.file)
    if _version(documents) != shard.version:
        raise InputError(f"{shard.url}: the packages here are not those that the run was planned with")
    positions = np.arange(len(documents), dtype=np.int64)
    keep = kept(positions, sample)
    before = np.cumsum([0] + [document.size for document in documents])[:-1]
    for number in np.unique(before // batch_bytes):
        chosen = np.flatnonzero(before // batch_bytes == number)
        yield _batch([(int(i), documents[i]) for i in chosen if keep[i]], columns, int((~keep[chosen]).sum()))


def _batch(documents: list[tuple[int, Document]], columns: Columns, sampled_out: int) -> Batch:
    rows: list[tuple[int, str, str]] = []
    bad = []
    for position, document in documents:
        data = _bytes(document)
        try:
            rows.append((position, data.decode(), document.id))
        except UnicodeDecodeError as error:
            bad.append(Bad(position, len(data), f"not UTF-8: {error}", data))
    positions, texts, ids = zip(*rows, strict=True) if rows else ((), (), ())
    nothing = pa.nulls(len(rows), pa.string())
    table = records.records_of(
        columns,
        pa.array(positions, pa.int64()),
        pa.array(texts, pa.large_string()),
        pa.array(ids, pa.string()),
        nothing,
        nothing,
    )
    return Batch(0, table, records.quarantine_of(bad), sampled_out, 0)


def _bytes(document: Document) -> bytes:
    if isinstance(document.place, bytes):
        return document.place
    data = document.place.read_bytes()
    return (
        data.partition(b"\n\n")[2] if document.place.name == "METADATA" else data
    )  # the description follows the header
