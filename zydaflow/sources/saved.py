"""The folders that `datasets` writes with save_to_disk."""

import json
from typing import TYPE_CHECKING, Any

import fsspec

from zydaflow.errors import InputError
from zydaflow.sources.splits import refuse_split

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

STATE = "state.json"  # of a Dataset
SPLITS = "dataset_dict.json"  # of a DatasetDict, whose splits are folders


def saved_files(fs: fsspec.AbstractFileSystem, root: str, dataset: "DatasetSpec") -> dict[str, str] | None:
    """Name → path of the files of the Dataset, or split of a DatasetDict, saved at `root`; None if it is neither.

    Only the files that its state lists count: others in the folder are caches. Raises InputError where one is missing,
    it lists none, or the recipe's `split` is none that there is.
    """
    has_splits = fs.exists(f"{root}/{SPLITS}")
    if has_splits:
        root = f"{root}/{_split(fs, root, dataset)}"
    if not fs.exists(f"{root}/{STATE}"):
        return None
    if not has_splits:
        refuse_split(dataset)
    state = _read_json(fs, f"{root}/{STATE}")
    if state.get("_indices_data_files"):
        raise InputError(f"{root}: has an indices mapping; save it again with a present version of datasets")
    names = [entry["filename"] for entry in state.get("_data_files", [])]
    if not names:
        raise InputError(f"dataset {dataset.name}: {root} is a saved dataset without a record; leave it out")
    for name in names:
        if not fs.exists(f"{root}/{name}"):
            raise InputError(f"{root}/{name}: is missing, but {STATE} beside it lists it; save the dataset again")
    return {name: f"{root}/{name}" for name in names}


def _split(fs: fsspec.AbstractFileSystem, root: str, dataset: "DatasetSpec") -> str:
    splits = _read_json(fs, f"{root}/{SPLITS}").get("splits", [])
    if dataset.split in splits:
        return str(dataset.split)
    wrong = f"has no split {dataset.split}" if dataset.split else "holds several splits, each a dataset"
    raise InputError(
        f"dataset {dataset.name}: {dataset.path} (a DatasetDict) {wrong}; set split: to one of {', '.join(splits)}"
    )


def _read_json(fs: fsspec.AbstractFileSystem, path: str) -> dict[str, Any]:
    try:
        content = json.loads(fs.cat_file(path))
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error}); save the dataset again") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: is not what save_to_disk writes; save the dataset again")
    return content
