"""Recipes run one after another on one Ray, whose workers load what they need once."""

import contextlib
import io
import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from zydaflow.cli import main
from zydaflow.engine.session import session

DEADLINE = 150  # seconds for a run


class Told(NamedTuple):
    """How `zydaflow run` ended, and what it said."""

    returncode: int
    stderr: str


class OneRay:
    """A process with a Ray of two cores, which runs what it is given."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def run(self, recipe: Path) -> Told:
        """Runs a recipe to its end."""
        self._pipe.send(recipe)
        assert self._pipe.poll(DEADLINE), f"the run did not end within {DEADLINE} s"
        return self._pipe.recv()


@contextlib.contextmanager
def one_ray() -> Iterator[OneRay]:
    """All its processes get the environment as it is now."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    theirs.close()
    try:
        yield OneRay(ours)
    finally:
        ours.close()
        process.join(20)
        process.kill()  # where a run has no end


def _serve(pipe: Connection) -> None:
    with session("local", workers=2), contextlib.suppress(EOFError):
        while True:
            recipe = pipe.recv()
            with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
                status = main(["run", str(recipe)])
            pipe.send(Told(status, said.getvalue()))
