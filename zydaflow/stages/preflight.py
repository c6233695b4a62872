"""What must be the same on every machine that takes part in a run: versions, and files besides the text."""

import os
from collections.abc import Iterator
from pathlib import Path

import xxhash

import zydaflow
from zydaflow.provenance.made_of import versions
from zydaflow.provenance.run_file import RUN
from zydaflow.recipe import Recipe, TokenizerSpec
from zydaflow.scorers import scorer_fingerprint
from zydaflow.stages.plan import TOKENIZER_FILES, side_files
from zydaflow.storage import AnyPath, digest, is_url, path_of
from zydaflow.tokens.files import locate

MISSING = "missing"


def facts(recipe: Recipe, out: str) -> dict[str, str]:
    """By name: versions, and xxh3-128 of files as this machine sees them.

    The files are the package's own, those of the recipe (a tokenizer from the hub as it was resolved here), and the
    output folder's `run.json`, which shows that the folder is the same one.
    """
    found = versions() | {"the code of zydaflow": _own_code()}
    found |= {path: _digest(path) for path in side_files(recipe)}
    found |= {f"scorers.{name}": scorer_fingerprint(spec)[:12] for name, spec in recipe.scorers.items()}
    return found | dict(_from_hub(recipe)) | {f"{out}, the output folder": _digest(path_of(out) / RUN)}


def _digest(path: AnyPath) -> str:
    try:
        return digest(path_of(path))[:12]
    except OSError:
        return MISSING


def _own_code() -> str:
    """Of all files of the package that is installed here: a version may be that of several checkouts."""
    root = Path(zydaflow.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    lines = "".join(f"{path.relative_to(root)} {_digest(path)}\n" for path in files)
    return xxhash.xxh3_128_hexdigest(lines.encode())[:12]


def _from_hub(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """The files of a tokenizer that is named as on a hub, each with the hash of what the name gives here."""
    spec = recipe.tokenizer
    name = spec.path if isinstance(spec, TokenizerSpec) else spec
    if not isinstance(name, str) or os.path.isabs(name) or is_url(name):
        return
    try:
        folder = locate(name).parent
    except zydaflow.InputError as error:
        yield f"{name}, the tokenizer", str(error).splitlines()[0]
        return
    for file in TOKENIZER_FILES:
        yield f"{name}, {file}", _digest(folder / file)
