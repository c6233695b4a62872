"""Scorers: functions of other people that give each text a number; how one is found, checked and called.

A function takes texts, pa.LargeStringArray of shape (n,) without nulls, and the recipe's `params` and `files` as
keyword arguments. It gives n numbers: an Arrow array, a NumPy array or a list; null, NaN and infinities mean no score.
What it gives for a text must not depend on the other texts. A class is called once per process, with the keyword
arguments, and what it makes is called with texts.
"""

import ast
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from zydaflow.errors import InputError, RecipeError
from zydaflow.recipe import DatasetSpec, Recipe, ScorerSpec, fingerprint
from zydaflow.recipe.scorer import FILE
from zydaflow.signals.scores import PREFIX
from zydaflow.suggest import nearest

GROUP = "zydaflow.scorers"  # of entry points
NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)

Scorer = Callable[[pa.LargeStringArray], Any]


@cache
def _entry_points() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _entry(spec: ScorerSpec) -> EntryPoint:
    """Raises RecipeError where nothing that is installed has it."""
    known = _entry_points()
    if spec.function not in known:
        raise RecipeError(
            f"function: {spec.function} is neither FILE.py:NAME nor an entry point of the group {GROUP} that is "
            f"installed here{nearest(spec.function, known)}"
        )
    return known[spec.function]


def _place(spec: ScorerSpec) -> tuple[str, str]:
    """The file with the function, and the function's name there. Raises RecipeError, and InputError for no file."""
    if FILE in spec.function:
        file, _, name = spec.function.rpartition(":")
        if not os.path.isfile(file):
            raise InputError(f"function: {file}: no such file")
        return file, name
    entry = _entry(spec)
    try:
        found = importlib.util.find_spec(entry.module)
    except ImportError as error:
        raise InputError(f"function: {spec.function} cannot be found: {error}") from error
    if found is None or found.origin is None:
        raise InputError(f"function: {spec.function} is {entry.value}, and there is no file of that module")
    return found.origin, entry.attr


def files_of(recipe: Recipe) -> Iterator[str]:
    """The files that scores depend on. Raises as `check`."""
    for name, spec in recipe.scorers.items():
        with _named(name):
            file, _ = _place(spec)
        yield from (file, *spec.files.values())


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors inside name the scorer's key."""
    try:
        yield
    except (RecipeError, InputError) as error:
        raise type(error)(f"scorers.{name}.{error}") from error


def scorer_fingerprint(spec: ScorerSpec) -> str:
    """Of all that scores depend on besides the text: the content of the function's file and of `files`, and `params`.

    What that file imports does not count, but for the version of the package that an entry point belongs to. Raises
    RecipeError for a function that there is not, InputError for a file.
    """
    file, name = _place(spec)
    installed = None if FILE in spec.function else _entry(spec).dist
    version = installed and [installed.name, installed.version]
    files = {key: _digest_of(path) for key, path in spec.files.items()}
    return fingerprint("scorer", _digest_of(file), name, version, spec.params, files)


def _digest_of(path: str) -> str:
    try:
        told = os.stat(path)
    except OSError as error:
        raise InputError(f"files: {path}: {error.strerror}") from error
    return _digest(path, told.st_mtime_ns, told.st_size)


@lru_cache(maxsize=256)
def _digest(path: str, modified: int, size: int) -> str:
    digest = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check(recipe: Recipe) -> None:
    """Looks for the functions and files of all scorers, without running any of their code.

    Raises RecipeError and InputError, which name the key.
    """
    for name, spec in recipe.scorers.items():
        with _named(name):
            scorer_fingerprint(spec)
            if FILE in spec.function:
                _check_defined(*_place(spec))


def check_names(recipe: Recipe, dataset: DatasetSpec, names: Iterable[str]) -> None:
    """Raises RecipeError for a signal that would be the score of a scorer that does not score the dataset."""
    scores = [PREFIX + name for name in recipe.scorers_of(dataset)]
    for name in names:
        if name.startswith(PREFIX) and name not in scores:
            known = f"; its scores are {', '.join(scores)}" if scores else "; the recipe's scorers give it none"
            raise RecipeError(f"dataset {dataset.name}: there is no score {name!r}{nearest(name, scores) or known}")


def _check_defined(file: str, name: str) -> None:
    """Raises RecipeError where a Python file cannot be parsed, or its outermost level has no such name."""
    try:
        body = ast.parse(Path(file).read_bytes(), file).body
    except (SyntaxError, ValueError) as error:
        raise RecipeError(f"function: {file} is no Python: {error}") from error
    names = {item for statement in body for item in _names(statement)}
    if name not in names:
        raise RecipeError(f"function: {file} has no {name!r}{nearest(name, names)}")


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    else:
        yield from (part.id for part in ast.walk(statement) if isinstance(part, ast.Name))


def load(name: str, spec: ScorerSpec) -> Scorer:
    """The function with its keyword arguments. Raises RecipeError where its code cannot be loaded."""
    arguments = {**spec.params, **spec.files}
    try:
        target = _from_file(*_place(spec)) if FILE in spec.function else _entry(spec).load()
        return target(**arguments) if isinstance(target, type) else partial(target, **arguments)
    except Exception as error:
        told = f"scorers.{name}: {spec.function} cannot be loaded: {type(error).__name__}: {error}"
        raise RecipeError(told) from error


def _from_file(file: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def call(name: str, function: Scorer, texts: pa.LargeStringArray) -> pa.DoubleArray:
    """The scores of n texts, float64 (n,), null where there is none.

    Raises what the function raises, and RecipeError where it does not give n numbers.
    """
    given = function(texts)
    try:
        column = given if isinstance(given, pa.Array | pa.ChunkedArray) else pa.array(given, from_pandas=True)
        if not any(is_kind(column.type) for is_kind in NUMBERS):
            raise TypeError(f"a column of {column.type}")
        scores = column.cast(pa.float64(), safe=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RecipeError(
            f"scorers.{name}: the function must give a number for each text, and gave {type(given).__name__}: {error}"
        ) from error
    if len(scores) != len(texts):
        raise RecipeError(f"scorers.{name}: the function gave {len(scores):,} numbers for {len(texts):,} texts")
    whole = scores.combine_chunks() if isinstance(scores, pa.ChunkedArray) else scores
    return pc.if_else(pc.is_finite(whole), whole, pa.scalar(None, pa.float64()))
