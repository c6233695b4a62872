"""Where files lie: on a disk of this machine, on one that all machines mount, or at any fsspec URL.

Storage far away that is busy or breaks off is asked again, patiently.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TypeVar

import pyarrow as pa
import xxhash
from upath import UPath

from zydaflow.patience import from_storage
from zydaflow.unbroken import UnbrokenFile

TEMPORARY = ".zydaflow-tmp-"
BLOCK = 2**20  # bytes fetched at a time where parts of a file are read
AT_A_TIME = 256  # small files
T = TypeVar("T")


AnyPath = str | os.PathLike[str] | UPath


def path_of(path: AnyPath) -> UPath:
    """The absolute path, or the URL, as one object with the methods of `pathlib.Path`.

    Listings of a remote folder are not remembered: others write to it.
    """
    text = str(path)
    return UPath(text, use_listings_cache=False) if is_url(text) else UPath(os.path.abspath(text))


def below(root: UPath, path: str) -> UPath:
    """A file below the root; one of another folder is named by its whole path or URL."""
    return path_of(path) if os.path.isabs(path) or is_url(path) else root / path


def is_url(path: str) -> bool:
    """Whether it is no path of this machine."""
    return "://" in path


def is_local(path: UPath) -> bool:
    return path.protocol == ""


def on_this_machine(folder: UPath) -> Path:
    """The folder itself where it is on a disk; for one elsewhere, the folder for temporary files (TMPDIR)."""
    return Path(str(folder)) if is_local(folder) else Path(tempfile.gettempdir())


def size_of(path: UPath) -> int | None:
    """Bytes of a file; None where there is none. Raises OSError where the storage cannot say."""
    try:
        return _patiently(path, lambda: path.stat().st_size)
    except (FileNotFoundError, NotADirectoryError):
        return None


def mapped(path: UPath, size: int) -> pa.Buffer:
    """The bytes of a file of that size, memory-mapped.

    A remote one is fetched to a file without a name in TMPDIR, which goes when the buffer does. Raises OSError where it
    did not come whole.
    """
    if is_local(path):
        with pa.memory_map(str(path)) as file:
            return file.read_buffer()
    with tempfile.TemporaryFile(prefix=TEMPORARY) as copy:
        _patiently(path, lambda: _fetch(path, copy, size))
        with pa.memory_map(_name(copy)) as file:
            return file.read_buffer()


def _fetch(path: UPath, copy: IO[bytes], size: int) -> None:
    path.fs.get_file(path.path, _name(copy))
    if (came := os.fstat(copy.fileno()).st_size) != size:
        raise ConnectionError(f"{came} bytes came, of {size}")


def seekable(path: UPath) -> pa.NativeFile:
    """A file of which parts will be read."""
    if is_local(path):
        return pa.memory_map(str(path))
    file = _patiently(path, lambda: path.fs.open(path.path, "rb", block_size=BLOCK))
    return pa.PythonFile(UnbrokenFile(str(path), file, path.stat().st_size), mode="r")


def publish(written: IO[bytes], path: UPath) -> None:
    """Gives a file without a name its place elsewhere.

    An object store shows an object once it is there whole. What another protocol shows of half of it does no harm: a
    commit record comes after the files that it names, with their checksums, and its own.
    """
    _patiently(path, lambda: path.fs.put_file(_name(written), path.path))


def _patiently(path: UPath, ask: Callable[[], T]) -> T:
    return ask() if is_local(path) else from_storage(str(path), ask)


def _name(file: IO[bytes]) -> str:
    """Under which the system opens a file that has none."""
    return f"/dev/fd/{file.fileno()}"


def files_below(folder: UPath) -> dict[str, int]:
    """The files below a folder, by their path from there, in order, with their sizes; of a folder that is not, none."""
    if is_local(folder):
        return dict(sorted(_walk(str(folder), "")))
    below = len(folder.path.rstrip("/")) + 1
    found = _patiently(folder, lambda: folder.fs.find(folder.path, detail=True))
    return {path[below:]: info["size"] for path, info in sorted(found.items())}


def _walk(folder: str, prefix: str) -> Iterator[tuple[str, int]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file():
            with contextlib.suppress(FileNotFoundError):  # it has another name by now
                yield prefix + entry.name, entry.stat().st_size


def secure(paths: Iterable[UPath]) -> None:
    """Waits until files are on their disk, from where a power failure does not take them."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:  # a disk takes many at one go
        list(pool.map(_secure, paths))


def _secure(path: UPath) -> None:
    if is_local(path):
        with path.open("rb") as file:
            os.fsync(file.fileno())


def read(path: UPath) -> bytes:
    """What is in a file. Raises OSError."""
    return path.read_bytes() if is_local(path) else _patiently(path, lambda: path.fs.cat_file(path.path))


def digest(path: UPath) -> str:
    """xxh3-128 of a file, of which a disk's is not held in memory. Raises OSError."""
    if not is_local(path):
        return xxhash.xxh3_128_hexdigest(read(path))
    found = xxhash.xxh3_128()
    with open(str(path), "rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def contents(folder: UPath, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """What is in small files of a folder, in order, remote ones many at a time; those that are gone are left out."""
    names = iter(names)
    while some := list(islice(names, AT_A_TIME)):
        if is_local(folder):
            for name in some:
                with contextlib.suppress(FileNotFoundError):
                    yield name, (folder / name).read_bytes()
        else:
            yield from _patiently(folder, partial(_contents, folder, some)).items()


def _contents(folder: UPath, names: list[str]) -> dict[str, bytes]:
    paths = {name: (folder / name).path for name in names}
    found = folder.fs.cat(list(paths.values()), on_error="return")
    for error in found.values():
        if isinstance(error, Exception) and not isinstance(error, FileNotFoundError):
            raise error
    return {name: found[path] for name, path in paths.items() if isinstance(found[path], bytes)}


def remove(paths: Iterable[UPath]) -> None:
    """Removes files of one folder; those that are not there are none."""
    paths = list(paths)
    if not paths or is_local(paths[0]):
        for path in paths:
            path.unlink(missing_ok=True)
        return
    try:
        _patiently(paths[0], lambda: paths[0].fs.rm([path.path for path in paths]))  # all at one go
    except FileNotFoundError:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                _patiently(path, partial(path.fs.rm_file, path.path))


def remove_empty_folders(folder: UPath) -> None:
    """Removes what is empty of a folder and the folders in it; an object store has none that are."""
    if is_local(folder):
        for path, _, _ in os.walk(str(folder), topdown=False):
            if not os.listdir(path):
                os.rmdir(path)


def move(path: UPath, to: UPath) -> None:
    """Gives a file another place below the same root, in which it replaces what is there."""
    if is_local(path):
        to.parent.mkdir(parents=True, exist_ok=True)
        os.replace(str(path), str(to))
    else:
        _patiently(path, lambda: path.fs.mv(path.path, to.path))


def room(folder: Path) -> int:
    """Free bytes of the disk where the folder is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def stamp(path: UPath) -> str:
    """What changes when a file of the same name is another. Raises OSError."""
    return str(path.stat().st_mtime_ns) if is_local(path) else _patiently(path, lambda: path.fs.ukey(path.path))


@contextlib.contextmanager
def temporary_folder(parent: AnyPath) -> Iterator[str]:
    """The path of a folder in another one; at the end it goes, with all that was written to it."""
    folder = path_of(parent) / f"{TEMPORARY}{secrets.token_hex(6)}"
    try:
        if is_local(folder):
            folder.mkdir()
        yield str(folder)
    finally:
        _remove_folder(folder)


@contextlib.contextmanager
def being_made(folder: UPath) -> Iterator[UPath]:
    """Where to write what will be this folder: on a disk under another name until it is whole, elsewhere in its place.

    Of one that does not come to its end nothing is left.
    """
    new = folder.parent / f"{TEMPORARY}{secrets.token_hex(6)}" if is_local(folder) else folder
    try:
        yield new
        if is_local(folder):
            os.rename(str(new), str(folder))
    except BaseException:
        _remove_folder(new)
        raise


def _remove_folder(folder: UPath) -> None:
    if is_local(folder):
        shutil.rmtree(str(folder), ignore_errors=True)
    else:
        remove(folder / name for name in files_below(folder))
