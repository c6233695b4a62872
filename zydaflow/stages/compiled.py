"""Compiles the kernels once per machine: a mark beside numba's cache tells that they are in it."""

import contextlib
import os
import sys
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding
import xxhash

import zydaflow
from zydaflow.filters import signals_needed
from zydaflow.recipe import Recipe

Names = tuple[str, ...]


def asked_for(recipe: Recipe) -> tuple[Names, Names]:
    """The signals and transforms of a recipe, whose kernels `compile_once` is to compile."""
    names = {name for dataset in recipe.datasets for name in signals_needed(recipe, dataset)}
    steps = {step for dataset in recipe.datasets for step in recipe.transform_of(dataset)}
    return tuple(sorted(names)), tuple(sorted(steps))


def compile_once(names: Names = (), steps: Names = ()) -> None:
    """The kernels of the stages, of these signals and of these transforms.

    Seconds to a minute where they are not compiled for this machine yet, nothing where they are.
    """
    mark = _mark(names, steps)
    if mark.exists():
        return
    from zydaflow.stages.warmup import compile_kernels  # which loads them all

    compile_kernels(names, steps)
    with contextlib.suppress(OSError):  # no place for a cache either
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark(names: Names, steps: Names) -> Path:
    """Of what is compiled, and what numba's own index asks for: the sources, by size and time, its version, the CPU."""
    kernels = Path(zydaflow.__file__).parent / "kernels"
    sources = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in kernels.glob("*.py"))
    made_for = [names, steps, sources, version("numba"), sys.version, llvmlite.binding.get_host_cpu_name()]
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or kernels / "__pycache__")
    return cache / f"compiled.{xxhash.xxh3_64_hexdigest(repr(made_for).encode())}"
