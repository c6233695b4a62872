"""Folders that a run has written: they may lie below an input folder, and are no input of the next run."""

import os.path
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from zydaflow.provenance.run_file import read_run


def is_output(folder: str | Path) -> bool:
    """Whether a local folder is the output of a run, finished or not: its `run.json`, written first, says so."""
    return read_run(folder) is not None


def without_outputs(root: str, files: Mapping[str, str]) -> dict[str, str]:
    """Of files by their names below `root`, those in no output folder below it; `root` itself may be one."""

    @cache
    def inside(folder: str) -> bool:
        return folder != "" and (is_output(f"{root}/{folder}") or inside(os.path.dirname(folder)))

    return {name: path for name, path in files.items() if not inside(os.path.dirname(name))}
