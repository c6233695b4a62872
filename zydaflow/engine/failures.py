"""OUT/failures.json: the units that failed, for a person who wants to know why, and for the command that goes on."""

import os

import orjson

from zydaflow.provenance.commits import Store
from zydaflow.resuming import how_to_resume

FILE = "failures.json"


def write(store: Store, stage: str, failures: list[dict[str, str]]) -> None:
    """Writes unit, error, tries and traceback of each, and the command that resumes, with the folder that it is for."""
    told = {"stage": stage, "resume": how_to_resume(), "folder": os.getcwd(), "failures": failures}
    store.write(FILE, orjson.dumps(told, option=orjson.OPT_INDENT_2))
