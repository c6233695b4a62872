"""The files at a dataset's path: one, those below a folder or of `save_to_disk`, or those that a glob matches."""

import glob
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import fsspec
from fsspec.implementations.local import LocalFileSystem

from zydaflow.errors import InputError
from zydaflow.patience import may_pass
from zydaflow.sources.forms import SUFFIXES, form_of
from zydaflow.sources.outputs import without_outputs
from zydaflow.sources.saved import saved_files
from zydaflow.sources.splits import refuse_split

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

_ESCAPED = re.compile(r"\[([*?[])\]")  # as glob.escape writes a wildcard that is meant literally


def find_files(fs: fsspec.AbstractFileSystem, root: str, dataset: "DatasetSpec") -> dict[str, str]:
    """Name in the dataset → path in `fs` of the files of known forms at the dataset's path `root`.

    Hidden files and the outputs of runs do not count. Raises InputError where there are none, or several and a `split`
    that does not choose among them.
    """
    kind = _kind(fs, root)
    if kind is None and glob.has_magic(root):
        return _known(dataset, _visible(fs, _fixed_folder(root), _matches(fs, root)))
    if kind == "file":
        return _known(dataset, {root.rsplit("/", 1)[-1]: root})
    if kind != "directory":
        raise InputError(f"dataset {dataset.name}: there is no file or folder {dataset.path}")
    saved = saved_files(fs, root, dataset)
    return _known(dataset, _visible(fs, root, _walk(fs, root))) if saved is None else saved


def _kind(fs: fsspec.AbstractFileSystem, path: str) -> str | None:
    """What is there, "file" or "directory"; None for nothing. fsspec's `isfile` says no where the storage fails."""
    try:
        return str(fs.info(path)["type"])
    except FileNotFoundError as error:
        if may_pass(error):
            raise
        return None


def _known(dataset: "DatasetSpec", files: dict[str, str]) -> dict[str, str]:
    """Those of known forms."""
    known = {name: path for name, path in files.items() if form_of(name)}
    if not known:
        raise InputError(f"dataset {dataset.name}: {_nothing(dataset.path, list(files))}")
    if len(known) > 1:
        refuse_split(dataset)
    return known


def _fixed_folder(pattern: str) -> str:
    """The longest folder without a wildcard, by its own name where that is escaped in the pattern."""
    *parts, _ = pattern.split("/")
    names = [_ESCAPED.sub(r"\1", part) for part in parts]
    fixed = (i for i, (name, part) in enumerate(zip(names, parts, strict=True)) if glob.escape(name) != part)
    return "/".join(names[: next(fixed, len(names))])


def _is_local(fs: fsspec.AbstractFileSystem) -> bool:
    return isinstance(fs, LocalFileSystem)


def _matches(fs: fsspec.AbstractFileSystem, pattern: str) -> list[str]:
    if _is_local(fs):  # fsspec's own drops links to files
        return [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
    return [path for path, info in fs.glob(pattern, detail=True).items() if info["type"] == "file"]


def _walk(fs: fsspec.AbstractFileSystem, root: str) -> Iterator[str]:
    """The files below a folder; locally also behind links (fsspec drops those), but for a link to where it is."""
    if not _is_local(fs):
        yield from fs.find(root)
        return
    for folder, folders, names in os.walk(root, followlinks=True):
        here = f"{os.path.realpath(folder)}/"
        folders[:] = [name for name in folders if not here.startswith(f"{os.path.realpath(f'{folder}/{name}')}/")]
        yield from (f"{folder}/{name}" for name in names)


def _visible(fs: fsspec.AbstractFileSystem, root: str, paths: Iterable[str]) -> dict[str, str]:
    """Name below `root` → path, of what is not hidden, nor in a hidden folder, nor written by a run."""
    files = {path[len(root) :].lstrip("/"): path for path in paths}
    seen = {name: path for name, path in files.items() if not any(part.startswith(".") for part in name.split("/"))}
    return without_outputs(root, seen) if _is_local(fs) else seen


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
