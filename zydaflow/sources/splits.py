"""The recipe's `split`, which only the Hub and DatasetDict folders have."""

from typing import TYPE_CHECKING

from zydaflow.errors import InputError

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec


def refuse_split(dataset: "DatasetSpec") -> None:
    """Raises InputError where the recipe names a split, for a dataset that has none: its files would be mixed."""
    if dataset.split is not None:
        raise InputError(
            f"dataset {dataset.name}: {dataset.path} has no splits, so split: {dataset.split} would change nothing; "
            f"leave it out, or name the files of the split in path: by a glob, like {dataset.split}-*.parquet"
        )
