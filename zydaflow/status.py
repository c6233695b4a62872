"""What a run is doing, told from its folder by another process."""

from typing import Any

import orjson
from upath import UPath

from zydaflow.engine import failures as failed
from zydaflow.engine.progress import read_progress
from zydaflow.errors import InputError, RunError
from zydaflow.provenance.lock import owner
from zydaflow.provenance.numbers import duration, megabytes
from zydaflow.provenance.run_file import read_run
from zydaflow.storage import AnyPath, path_of, read

Json = dict[str, Any]


def status(out: AnyPath) -> tuple[str, int]:
    """What the run is doing or has come to, for people, and an exit status: 4 where the same command has to resume it.

    Raises InputError for a folder that is none of a run.
    """
    root = path_of(out)
    run, progress, lives = read_run(root), read_progress(root), owner(root)
    if progress is None:
        raise InputError(f"{out}: no run has begun here")
    finished = run is not None and run["finished"]
    if lives:
        state = f"running: {_now(progress)}; {lives}"
    elif finished:
        state = "finished"
    else:
        state = f"not running, and not finished: it came to {progress['stage']}; the same command goes on from there"
    stages = [*progress["before"], progress]
    lines = [
        f"{out}: {state}",
        f"began {stages[0]['started']}, last heard of {progress['updated']}",
        *(_line(stage) for stage in stages if "units" in stage),
        *_errors(root, progress, bool(lives)),
    ]
    return "\n".join(lines), 0 if lives or finished else RunError.exit_code


def _now(progress: Json) -> str:
    left = progress.get("seconds_left")
    return progress["stage"] + ("" if left is None else f", about {duration(left)} left of this stage")


def _line(stage: Json) -> str:
    """What became of a stage, as its own line said it."""
    parts = [f"  {stage['stage']:<9} {stage['state']:<8} {stage['done']}/{stage['units']} units"]
    parts += [f"{stage[name]} {name}" for name in ("running", "retried", "failed", "reused") if stage[name]]
    if stage["bytes"]:
        rate = stage["bytes"] / 1e6 / max(stage["seconds"], 1e-9)
        parts.append(f"{megabytes(stage['bytes'])} at {rate:.1f} MB/s")
    return " · ".join([*parts, duration(stage["seconds"])])


def _errors(root: UPath, progress: Json, lives: bool) -> list[str]:
    """The last error of a stage that runs; of one that ended, the failures that it left."""
    if lives:
        return [f"last error: {progress['error']}"] if progress.get("error") else []
    try:
        told = orjson.loads(read(root / failed.FILE))
    except (FileNotFoundError, ValueError):
        return []
    return [
        *(f"failed: {failure['unit']}: {failure['error']}" for failure in told["failures"][:5]),
        f"all of them, with tracebacks: {root / failed.FILE}",
        f"to go on, in {told['folder']}: {told['resume']}",
    ]
