"""The files at the top of an output folder: `run.json`, what a run was made of and whether it came to its end."""

from pathlib import Path
from typing import Any

import orjson

RUN = "run.json"
STATISTICS = "statistics.json"
RECIPE = "recipe.yaml"


def read_run(out: str | Path) -> dict[str, Any] | None:
    """The contents of a folder's `run.json`; None where there is none that can be read."""
    try:
        return orjson.loads((Path(out) / RUN).read_bytes())
    except (OSError, ValueError):
        return None
