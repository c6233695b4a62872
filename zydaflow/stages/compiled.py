"""Compiles the kernels once per machine: a mark beside numba's cache tells that they are in it."""

import contextlib
import os
import sys
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding
import xxhash

import zydaflow


def compile_once() -> None:
    """Seconds to minutes where they are not compiled for this machine yet, nothing where they are."""
    mark = _mark()
    if mark.exists():
        return
    from zydaflow.stages.warmup import compile_kernels  # which loads them all

    compile_kernels()
    with contextlib.suppress(OSError):  # no place for a cache either
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark() -> Path:
    """Of what numba's own index asks for: the sources, by size and time, its version, and the processor."""
    kernels = Path(zydaflow.__file__).parent / "kernels"
    sources = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in kernels.glob("*.py"))
    made_for = [sources, version("numba"), sys.version, llvmlite.binding.get_host_cpu_name()]
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or kernels / "__pycache__")
    return cache / f"compiled.{xxhash.xxh3_64_hexdigest(repr(made_for).encode())}"
