"""The files that a dataset's path stands for, local or at an fsspec URL, each with its identity and its version."""

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import fsspec
from fsspec.implementations.local import LocalFileSystem

from zydaflow.errors import InputError
from zydaflow.patience import from_storage
from zydaflow.sources.find import find_files
from zydaflow.sources.open import is_local, local_version, remote_version

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec


class InputFile(NamedTuple):
    """One file of a dataset; `size` is -1 where the storage does not tell."""

    url: str  # what to open: a local path or an fsspec URL
    file: str  # path relative to the dataset's root
    size: int  # bytes as stored
    version: str  # changes when the file does


def list_files(dataset: "DatasetSpec") -> list[InputFile]:
    """The files of a path or fsspec URL, in bytewise order of `file`.

    Raises InputError where there are none, or several and a `split` that does not choose among them, and
    ConnectionError where the storage does not answer.
    """
    fs, root = file_system(dataset.path)
    fs.invalidate_cache()  # of listings: this process may have seen the folder before
    find = partial(find_files, fs, root, dataset)
    files = find() if is_local(dataset.path) else from_storage(dataset.path, find)
    for path in files.values():
        refuse_name(path)
    return [input_file(fs, name, files[name]) for name in sorted(files, key=bytewise)]


def bytewise(file: str) -> bytes:
    """The key of the canonical order of files."""
    return file.encode()


def refuse_name(path: str) -> None:
    """Raises InputError where a path is not UTF-8, in which no recipe, record or report could name it."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path!r}: the name is not UTF-8; rename it") from error


def input_file(fs: fsspec.AbstractFileSystem, file: str, path: str) -> InputFile:
    """The file at `path`, which is called `file` in its dataset."""
    if isinstance(fs, LocalFileSystem):
        status = os.stat(path)
        return InputFile(path, file, status.st_size, local_version(status))
    url = fs.unstrip_protocol(path)
    info = from_storage(url, lambda: fs.info(path))
    size = info.get("size")
    return InputFile(url, file, -1 if size is None else int(size), remote_version(info))


def file_system(path: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The file system of a path or URL, and the path in it; raises InputError where there is none for it."""
    try:  # fsspec takes "::" for a chain of URLs, also in a local path
        fs, root = (LocalFileSystem(), os.path.abspath(path)) if is_local(path) else fsspec.url_to_fs(path)
    except ImportError as error:
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        raise InputError(f"{path}: another package is needed to read it: pip install {missing.name}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    return fs, root.rstrip("/") or root
