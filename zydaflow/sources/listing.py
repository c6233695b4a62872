"""Which files a dataset's path stands for: a file, folder, glob or `save_to_disk` folder, local or at an fsspec URL."""

import json
from collections.abc import Mapping
from glob import has_magic
from typing import TYPE_CHECKING, Any, NamedTuple

import fsspec

from zydaflow.errors import InputError
from zydaflow.sources.forms import SUFFIXES, form_of

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

STATE = "state.json"  # in the folder that `datasets.Dataset.save_to_disk` writes
SPLITS = "dataset_dict.json"  # in the folder that `datasets.DatasetDict.save_to_disk` writes
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
    if not fs.exists(root) and has_magic(root):
        files = _glob(fs, root)
    elif fs.isfile(root):
        files = {root.rsplit("/", 1)[-1]: fs.info(root)}
    elif fs.isdir(root):
        files = _folder(fs, root, dataset)
    else:
        raise InputError(f"dataset {dataset.name}: there is no file or folder {dataset.path}")
    known = {name: info for name, info in files.items() if form_of(name)}
    if not known:
        raise InputError(f"dataset {dataset.name}: {_nothing(dataset.path, list(files))}")
    return [input_file(fs, name, known[name]) for name in sorted(known, key=bytewise)]


def bytewise(file: str) -> bytes:
    """The key of the canonical order of files."""
    return file.encode("utf-8", "surrogateescape")


def _file_system(path: str) -> tuple[fsspec.AbstractFileSystem, str]:
    try:
        fs, root = fsspec.url_to_fs(path)
    except ImportError as error:
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        raise InputError(f"{path}: another package is needed to read it: pip install {missing.name}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    return fs, root.rstrip("/") or root


def input_file(fs: fsspec.AbstractFileSystem, file: str, info: Mapping[str, Any]) -> InputFile:
    """The file of this name in its dataset, from what its file system says of it."""
    path = info["name"]
    size = info.get("size")
    version = next((str(info[key]) for key in VERSION_KEYS if info.get(key) is not None), "")
    url = path if "file" in _protocols(fs) else fs.unstrip_protocol(path)
    return InputFile(url, file, -1 if size is None else int(size), f"{size}-{version}")


def _protocols(fs: fsspec.AbstractFileSystem) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _glob(fs: fsspec.AbstractFileSystem, pattern: str) -> dict[str, Any]:
    """The files that a pattern matches, by their path below the longest folder without a wildcard."""
    parts = pattern.split("/")
    fixed = next(i for i, part in enumerate(parts) if has_magic(part))
    root = "/".join(parts[:fixed])
    found = fs.glob(pattern, detail=True)
    return _visible({path[len(root) :].lstrip("/"): info for path, info in found.items() if info["type"] == "file"})


def _folder(fs: fsspec.AbstractFileSystem, root: str, dataset: "DatasetSpec") -> dict[str, Any]:
    if fs.exists(f"{root}/{SPLITS}"):
        root = _split_folder(fs, root, dataset)
    if fs.exists(f"{root}/{STATE}"):
        return _saved_files(fs, root)
    found = fs.find(root, detail=True)
    return _visible({path[len(root) :].lstrip("/"): info for path, info in found.items()})


def _visible(files: Mapping[str, Any]) -> dict[str, Any]:
    """The files that are not hidden, nor in a hidden folder."""
    return {name: info for name, info in files.items() if not any(part.startswith(".") for part in name.split("/"))}


def _split_folder(fs: fsspec.AbstractFileSystem, root: str, dataset: "DatasetSpec") -> str:
    splits = _read_json(fs, f"{root}/{SPLITS}").get("splits", [])
    if dataset.split not in splits:
        wrong = "has no split of this name" if dataset.split else "holds several splits, each a dataset"
        raise InputError(
            f"dataset {dataset.name}: {dataset.path} (a DatasetDict) {wrong}; "
            f"set split: to one of {', '.join(splits)}" + (f" instead of {dataset.split}" if dataset.split else "")
        )
    return f"{root}/{dataset.split}"


def _saved_files(fs: fsspec.AbstractFileSystem, root: str) -> dict[str, Any]:
    """The files that state.json lists; others in the folder are caches."""
    state = _read_json(fs, f"{root}/{STATE}")
    if state.get("_indices_data_files"):
        raise InputError(f"{root}: has an indices mapping; save it again with a present version of datasets")
    files = {}
    for entry in state.get("_data_files", []):
        path = f"{root}/{entry['filename']}"
        if not fs.exists(path):
            raise InputError(f"{path}: is missing, but {STATE} beside it lists it; save the dataset again")
        files[entry["filename"]] = fs.info(path)
    return files


def _read_json(fs: fsspec.AbstractFileSystem, path: str) -> dict[str, Any]:
    try:
        content = json.loads(fs.cat_file(path))
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error}); save the dataset again") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: is not what save_to_disk writes; save the dataset again")
    return content


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
