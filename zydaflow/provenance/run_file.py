"""The files at the top of an output folder: `run.json`, what a run was made of and whether it came to its end."""

from typing import Any

import orjson

from zydaflow.storage import AnyPath, path_of, read

RUN = "run.json"
KEYS = {"finished", "fingerprint", "inputs", "outputs", "records", "runs"}
STATISTICS = "statistics.json"
RECIPE = "recipe.yaml"
FOLDERS = ("commits", "corpus", "evidence", "quarantine", "report", "signals", "work")


def read_run(out: AnyPath) -> dict[str, Any] | None:
    """The contents of a folder's `run.json`; None where there is none that can be read."""
    try:
        run = orjson.loads(read(path_of(out) / RUN))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return run if isinstance(run, dict) and run.keys() >= KEYS else None
