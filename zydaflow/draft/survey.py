"""Which datasets lie in files and folders, told from names and first records."""

import glob
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zydaflow.draft.peek import Columns, peek
from zydaflow.errors import InputError
from zydaflow.sources.forms import SUFFIXES, form_of
from zydaflow.sources.listing import refuse_name
from zydaflow.sources.outputs import is_output

KNOWN_FORMS = ".jsonl, .jsonl.gz, .jsonl.zst, .parquet and .arrow files, and folders of datasets.save_to_disk"
_NUMBERS = re.compile(r"([-_.]?\d+([-_.]of[-_.]\d+(-[0-9a-f]{16})?)?)+$")  # …-00001-of-00009, with the hub's old hash


@dataclass(frozen=True)
class Finding:
    """What looks like one dataset."""

    name: str  # fit to be a dataset's name; unique among the findings of one call
    path: str  # as a recipe would say it
    form: str
    files: int
    bytes: int  # as stored
    columns: Columns
    split: str | None = None  # of a DatasetDict folder
    other_splits: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Place:
    name: str
    path: str
    form: str
    files: list[Path]
    split: str | None = None
    other_splits: tuple[str, ...] = ()


def inspect_paths(paths: list[str]) -> list[Finding]:
    """The datasets in files and folders, in the order given; in a folder by name, its files before its folders.

    Files of a folder that differ in their numbers alone are one dataset, and so are folders. Of each dataset the first
    records of one file are read. Raises InputError for a path that does not exist or holds nothing of a known form,
    and for a file that cannot be read.
    """
    findings: list[Finding] = []
    for path in paths:
        given = Path(path).expanduser()
        try:
            places = list(_places(given, given))
            for place in places:
                findings.append(_finding(place, {finding.name for finding in findings}))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
        if not places:
            raise InputError(f"{path}: nothing here that zydaflow reads; it reads {KNOWN_FORMS}")
    return findings


def slug(text: str) -> str:
    """`text` as the name of a dataset: lower-case ASCII letters, digits, '.', '_' and '-'."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("._-")[:80] or "data"


def _finding(place: _Place, taken: set[str]) -> Finding:
    name = slug(place.name)
    if name in taken:
        name = next(f"{name}-{count}" for count in range(2, len(taken) + 3) if f"{name}-{count}" not in taken)
    sizes = [file.stat().st_size for file in place.files]
    shown = next((file for file, size in zip(place.files, sizes, strict=True) if size), place.files[0])
    for file in place.files:
        refuse_name(str(file))
    return Finding(name, place.path, place.form, len(sizes), sum(sizes), peek(shown), place.split, place.other_splits)


def _places(path: Path, root: Path) -> Iterator[_Place]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_file():
        if form := form_of(path.name):
            yield _Place(_name(path, root), str(path), form, [path])
    elif (path / "dataset_dict.json").is_file():
        yield _dataset_dict(path, _name(path, root))
    elif (path / "state.json").is_file():
        yield _Place(_name(path, root), str(path), "save_to_disk", _saved_files(path))
    else:
        yield from _in_folder(path, root)


def _name(path: Path, root: Path) -> str:
    """The names from below the given path `root` down to `path`, or its own where it is the one given."""
    text = "-".join(path.relative_to(root).parts) or path.absolute().name
    return text.removesuffix(_suffix(path))


def _suffix(path: Path) -> str:
    """The end of a file's name that tells its form; empty for a folder."""
    return next((path.name[-len(suffix) :] for suffix in SUFFIXES if path.name.lower().endswith(suffix)), "")


def _saved_files(folder: Path) -> list[Path]:
    return [folder / file["filename"] for file in _listed(folder / "state.json", "_data_files")]


def _dataset_dict(folder: Path, name: str) -> _Place:
    splits = _listed(folder / "dataset_dict.json", "splits")
    split = "train" if "train" in splits else splits[0]
    others = tuple(other for other in splits if other != split)
    return _Place(name, str(folder), "DatasetDict", _saved_files(folder / split), split, others)


def _listed(path: Path, key: str) -> list:
    """What a JSON file of `datasets` lists under a key."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))[key]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not what datasets.save_to_disk writes: {error!r}") from error
    if not listed:
        raise InputError(f"{path}: lists no {key}: the dataset is empty; leave it out")
    return listed


def _in_folder(folder: Path, root: Path) -> Iterator[_Place]:
    children = sorted(child for child in folder.iterdir() if not child.name.startswith("."))
    files = [child for child in children if child.is_file() and form_of(child.name)]
    folders = [child for child in children if child.is_dir() and not _leads_up(child) and not is_output(child)]
    groups: dict[tuple[str, str], list[Path]] = {}
    for file in files:
        groups.setdefault(_kind(file), []).append(file)
    if len(groups) == 1 and not folders:
        yield _Place(_name(folder, root), str(folder), str(form_of(files[0].name)), files)
    elif not files and (below := _numbered_folders(folders)):
        yield _Place(_name(folder, root), str(folder), str(form_of(below[0].name)), below)
    else:
        for (stem, suffix), group in groups.items():
            yield from _in_group(folder, root, stem, suffix, group)
        for child in folders:
            yield from _places(child, root)


def _leads_up(folder: Path) -> bool:
    """Whether this is a link to a folder that it lies in, which would never end."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def _kind(path: Path) -> tuple[str, str]:
    """The name without its numbers, and its suffix: equal for the shards of one dataset."""
    suffix = _suffix(path)
    return _NUMBERS.sub("", path.name.removesuffix(suffix)), suffix


def _numbered_folders(folders: list[Path]) -> list[Path]:
    """All data files below folders that differ in their numbers alone and hold one form; else none."""
    if len(folders) < 2 or len({_kind(folder) for folder in folders}) > 1:
        return []
    below = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    if any(file.name == "state.json" for file in below):
        return []
    data = [file for file in below if form_of(file.name)]
    return data if len({form_of(file.name) for file in data}) == 1 else []


def _in_group(folder: Path, root: Path, stem: str, suffix: str, files: list[Path]) -> Iterator[_Place]:
    """Files of one kind beside others: one dataset by a glob that matches them and nothing else, or one for each."""
    pattern = f"{glob.escape(stem)}[-_.0-9]*{suffix}"
    if len(files) > 1 and sorted(folder.glob(pattern)) == files:
        name = _name(folder / (stem or "numbered"), root)
        yield _Place(name, f"{glob.escape(str(folder))}/{pattern}", str(form_of(files[0].name)), files)
    else:
        for file in files:
            yield from _places(file, root)
