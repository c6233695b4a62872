"""Which files a dataset's path stands for: a file, folder, glob or `save_to_disk` folder, local or at an fsspec URL."""

import glob
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import fsspec
from fsspec.implementations.local import LocalFileSystem

from zydaflow.errors import InputError
from zydaflow.sources.forms import SUFFIXES, form_of
from zydaflow.sources.saved import saved_files

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

VERSION_KEYS = ("ETag", "etag", "blob_id", "mtime", "LastModified", "last_modified", "created")


class InputFile(NamedTuple):
    """One file of a dataset; `size` is -1 where the storage does not tell."""

    url: str  # what to open: a local path or an fsspec URL
    file: str  # path relative to the dataset's root
    size: int  # bytes as stored
    version: str  # changes when the file does


def list_files(dataset: "DatasetSpec") -> list[InputFile]:
    """The files of a path or fsspec URL, in bytewise order of `file`; raises InputError where there are none."""
    fs, root = _file_system(dataset.path)
    if not fs.exists(root) and glob.has_magic(root):
        base = _fixed_folder(root)
        files = _visible(base, _matches(fs, root))
    elif fs.isfile(root):
        files = {root.rsplit("/", 1)[-1]: root}
    elif fs.isdir(root):
        saved = saved_files(fs, root, dataset)
        files = _visible(root, _walk(root) if _is_local(fs) else fs.find(root)) if saved is None else saved
    else:
        raise InputError(f"dataset {dataset.name}: there is no file or folder {dataset.path}")
    known = {name: path for name, path in files.items() if form_of(name)}
    if not known:
        raise InputError(f"dataset {dataset.name}: {_nothing(dataset.path, list(files))}")
    return [input_file(fs, name, known[name]) for name in sorted(known, key=bytewise)]


def bytewise(file: str) -> bytes:
    """The key of the canonical order of files."""
    return file.encode("utf-8", "surrogateescape")


def input_file(fs: fsspec.AbstractFileSystem, file: str, path: str) -> InputFile:
    """The file at `path`, which is called `file` in its dataset."""
    info: Mapping[str, Any] = fs.info(path)
    size = info.get("size")
    version = next((str(info[key]) for key in VERSION_KEYS if info.get(key) is not None), "")
    url = path if _is_local(fs) else fs.unstrip_protocol(path)
    return InputFile(url, file, -1 if size is None else int(size), f"{size}-{version}")


def _file_system(path: str) -> tuple[fsspec.AbstractFileSystem, str]:
    try:
        fs, root = fsspec.url_to_fs(path)
    except ImportError as error:
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        raise InputError(f"{path}: another package is needed to read it: pip install {missing.name}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    return fs, root.rstrip("/") or root


def _is_local(fs: fsspec.AbstractFileSystem) -> bool:
    return isinstance(fs, LocalFileSystem)


def _fixed_folder(pattern: str) -> str:
    """The longest folder without a wildcard."""
    parts = pattern.split("/")
    return "/".join(parts[: next(i for i, part in enumerate(parts) if glob.has_magic(part))])


def _matches(fs: fsspec.AbstractFileSystem, pattern: str) -> list[str]:
    if _is_local(fs):  # fsspec's own drops links to files
        return [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
    return [path for path, info in fs.glob(pattern, detail=True).items() if info["type"] == "file"]


def _walk(root: str) -> Iterator[str]:
    """The files below a local folder, also behind links (fsspec's own walk drops those), but no link to where it is."""
    for folder, folders, names in os.walk(root, followlinks=True):
        here = f"{os.path.realpath(folder)}/"
        folders[:] = [name for name in folders if not here.startswith(f"{os.path.realpath(f'{folder}/{name}')}/")]
        yield from (f"{folder}/{name}" for name in names)


def _visible(root: str, paths: Iterator[str] | list[str]) -> dict[str, str]:
    """Name below `root` → path, of what is not hidden, nor in a hidden folder."""
    files = {path[len(root) :].lstrip("/"): path for path in paths}
    return {name: path for name, path in files.items() if not any(part.startswith(".") for part in name.split("/"))}


def _nothing(path: str, names: list[str]) -> str:
    """What to say of a path in which there is no file of a known form."""
    scripts = [name for name in names if name.endswith(".py")]
    if scripts:
        return (
            f"{path} holds a loading script ({scripts[0]}) and no data, and scripts are not run. Load it once with the "
            "program it was written for, save it with save_to_disk or to_parquet, and name that folder"
        )
    found = f"only {', '.join(sorted(names)[:5])}" if names else "nothing"
    return f"{path} matches {found}; files must end in {', '.join(SUFFIXES)}"
