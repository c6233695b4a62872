"""What makes a folder of shards one that `datasets.load_from_disk` opens."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa


def folder_files(schema: pa.Schema, shards: Sequence[str], fingerprint: str) -> dict[str, dict[str, Any]]:
    """The JSON files beside the shards, by name: state.json and dataset_info.json.

    `shards` are the file names in order, at least one; `fingerprint` (16 or more hexadecimal digits) is of their
    content, so that the caches of `datasets` know when it changed.
    """
    from datasets import Features  # takes half a second

    state: dict[str, Any] = {
        "_data_files": [{"filename": name} for name in shards],
        "_fingerprint": fingerprint[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    features = Features.from_arrow_schema(schema).to_dict()
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    return {"state.json": state, "dataset_info.json": info}
