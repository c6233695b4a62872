"""Functions of other people that give each text a number: what a recipe says of one."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from zydaflow.recipe.part import Name, Part, wrong
from zydaflow.recipe.scalars import LocalPath, Size, absolute_path

Scalar = str | int | float | bool | None
FILE = ".py:"  # in the name of a function that is no entry point


def _function(value: str) -> str:
    """FILE.py:NAME with an absolute path; the name of an entry point as it is."""
    file, found, name = value.rpartition(FILE)
    if found and not name.isidentifier():
        raise ValueError(f"{value!r} names no function; write FILE.py:NAME")
    return f"{absolute_path(file + '.py')}:{name}" if found else value


MEANS = frozenset({"actors", "memory", "gpus", "seconds", "batch"})
"""Keys that change no score, but for a document on which the function fails."""


class ScorerSpec(Part):
    """A function, which gets `params` and `files` as keyword arguments, and the processes that call it."""

    function: Annotated[Name, AfterValidator(_function)]
    """FILE.py:NAME, or the name of an entry point of the group zydaflow.scorers"""
    params: dict[Name, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict)
    """keyword arguments: texts, numbers, true, false, null, or lists of these"""
    files: dict[Name, LocalPath] = Field(default_factory=dict)
    """keyword arguments that are paths of files, like a model; another content gives other scores"""
    actors: int = Field(default=1, ge=1)
    """how many processes score at the same time, each on one core"""
    memory: Size = 2 * 10**9
    """the memory that each of them may use, in bytes"""
    gpus: float = Field(default=0, ge=0)
    """the GPUs that each of them gets: 1, 0.5, …"""
    seconds: int = Field(default=60, ge=1)
    """how long the function may take for a batch, in the end for a single document, or each 8 MB of a longer one"""
    batch: int = Field(default=256, ge=1)
    """how many documents the function gets at once, at most"""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := sorted(self.params.keys() & self.files.keys()):
            raise wrong("files", f"{both[0]} is among params too; leave one out", self.files)
        return self
