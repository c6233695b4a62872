"""Measures what being safe costs: commits and checksums in a run, opening a finished one, and many small shards.

    python tests/benchmarks/safety.py RECIPE [--shards 10000] [--workers N]

Three tables:

- the run of RECIPE, in a temporary folder and in this process alone, one unit after the other, with timers around what
  is there for safety's sake: checksums, giving files their names, commit records, the disk (fsync); and of that, what
  the work waits for, and what a thread does beside it;
- the whole command on the finished folders of that run and of the next;
- SHARDS files of 20 kB, made up, beside the same text in few large files, as whole commands less start-up: what a shard
  costs beyond its computing. These use the recipe's tokenizer, and a rule set and deduplication of their own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import orjson
import psutil
import pyarrow as pa
import xxhash

from zydaflow import pipeline
from zydaflow.provenance import commits
from zydaflow.provenance.behind import Behind
from zydaflow.provenance.run_file import read_run
from zydaflow.recipe import Recipe, dump_recipe, load_recipe
from zydaflow.stages import account, match, measuring
from zydaflow.stages.plan import plan
from zydaflow.stages.unit import Timing, Unit
from zydaflow.stages.warmup import compile_kernels

DOCUMENTS, WORDS = 5, 600  # of a shard, and of a document: 20 kB
LARGE = 8  # files of the same text
HASHED_IN = (commits, match, measuring)  # modules with checksums


WAITING = "waiting for it"


class Stopwatch(threading.local):
    """Seconds inside functions, by a name and by thread; what one calls of the others counts there alone."""

    whole: ClassVar[list[tuple[bool, dict[str, float]]]] = []  # whether it is the work's own thread, and its seconds

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner = 0.0
        self.whole.append((threading.current_thread() is threading.main_thread(), self.seconds))

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        def timed(*arguments: Any, **named: Any) -> Any:
            started, before, self._inner = time.perf_counter(), self._inner, 0.0
            try:
                return function(*arguments, **named)
            finally:
                seconds = time.perf_counter() - started
                self.seconds[name] += seconds - self._inner
                self._inner = before + seconds

        return timed

    def install(self) -> None:
        """Times, from now on and in this process, whatever is done for safety's sake."""
        for module in HASHED_IN:
            self._time_hashes(module)
        os.fsync = self.around("fsync", os.fsync)
        commits.Output.finish = self.around("naming files", commits.Output.finish)  # type: ignore[method-assign]
        commits.Store.commit = self.around("records", commits.Store.commit)  # type: ignore[method-assign]
        commits.Store.map = self.around("looking at files", commits.Store.map)  # type: ignore[method-assign]
        commits.Output._give_name = self.around("naming files", commits.Output._give_name)  # type: ignore[method-assign]
        Behind.settle = self.around(WAITING, Behind.settle)  # type: ignore[method-assign]
        Behind.finish = self.around(WAITING, Behind.finish)  # type: ignore[method-assign]

    def _time_hashes(self, module: ModuleType) -> None:
        timed = {name: self.around("checksums", getattr(xxhash, name)) for name in dir(xxhash) if "digest" in name}

        def hasher() -> SimpleNamespace:
            made = xxhash.xxh3_128()
            methods = {name: getattr(made, name) for name in ("update", "digest", "hexdigest")}
            return SimpleNamespace(**{name: self.around("checksums", method) for name, method in methods.items()})

        module.xxhash = SimpleNamespace(**{**vars(xxhash), **timed, "xxh3_128": hasher})  # type: ignore[attr-defined]


def run_here(recipe: Recipe) -> None:
    """Times a whole run in this process, and prints what goes to safety."""
    pa.set_cpu_count(1)
    compile_kernels()
    stopwatch = Stopwatch()
    stopwatch.install()
    pipeline.run_units = _run_units
    started = time.perf_counter()
    planned = plan(recipe)
    store = commits.Store(recipe.output.path)
    account.begin(store, planned)
    pipeline.stages_until(None)(pipeline.Pipeline(planned, store))
    whole = time.perf_counter() - started
    size = sum(counts.counts["read_bytes"] for counts in store.records("measure"))
    waited, beside = Counter[str](), Counter[str]()
    for own, seconds in stopwatch.whole:
        (waited if own else beside).update(seconds)
    costs = waited + beside
    del costs[WAITING]  # is for what the other thread does
    print(f"{size / 1e6:.0f} MB of text in one process: {whole:.1f} s, of which for safety")
    sums = [("all", costs.total()), ("  waited for", waited.total()), ("  beside the work", beside.total())]
    for name, cost in [*costs.items(), *sums]:
        print(f"  {name:<18} {cost:>7.2f} s {cost / whole:>7.2%}")


def _run_units(store: commits.Store, stage: str, units: list[Unit], *_: object) -> Timing:
    for unit in units:
        with store.behind():
            unit.function(store, *unit.arguments)
    return Timing(units=len(units))


def command(recipe: Recipe, workers: int) -> float:
    """Seconds of the whole command."""
    file = Path(f"{recipe.output.path}.yaml")
    file.write_text(dump_recipe(recipe))
    started = time.perf_counter()
    words = [sys.executable, "-m", "zydaflow", "run", str(file), "--workers", str(workers)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def after_start(recipe: Recipe, workers: int) -> float:
    """Seconds of the whole command less its start-up."""
    seconds, told = command(recipe, workers), read_run(recipe.output.path)
    assert told is not None
    return seconds - float(told["runs"][-1]["stages"]["start-up"]["wall"])


def make(folder: Path, shards: int) -> None:
    """Writes `small/`, a file per shard, and `large/`, the same documents; every tenth is a copy of the one before."""
    rng = np.random.default_rng(1)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 12))) for _ in range(20_000)])
    for name in ("small", "large"):
        (folder / name).mkdir()
    text = ""
    for shard in range(shards):
        lines = []
        for _ in range(DOCUMENTS):
            if not text or rng.random() > 0.1:
                text = " ".join(words[(rng.pareto(1.0, WORDS) * 50).astype(int) % len(words)])
            lines.append(orjson.dumps({"text": text}, option=orjson.OPT_APPEND_NEWLINE))
        (folder / "small" / f"{shard:06d}.jsonl").write_bytes(b"".join(lines))
        with (folder / "large" / f"{shard * LARGE // shards}.jsonl").open("ab") as file:
            file.writelines(lines)


def recipe_of(folder: Path, name: str, tokenizer: Any) -> Recipe:
    return load_recipe(
        {
            "name": name,
            "datasets": [{"name": "made-up", "path": str(folder / name)}],
            "filters": ["zyda"],
            "dedup": {"threshold": 0.4, "bands": 32, "rows": 4},
            "tokenizer": tokenizer,
            "output": {"path": str(folder / f"{name}-out")},
        }
    )


def report_shards(folder: Path, tokenizer: Any, shards: int, workers: int) -> Recipe:
    """Prints what a shard costs; returns the recipe of the small ones."""
    make(folder, shards)
    small, large = (recipe_of(folder, name, tokenizer) for name in ("small", "large"))
    seconds, computing = after_start(small, workers), after_start(large, workers)
    print(f"{shards:,} shards, {workers} workers: {seconds:.1f} s; the same text in {LARGE} files: {computing:.1f} s")
    print(f"  {(seconds - computing) / shards * 1e3:.1f} ms per shard beyond its computing")
    return small


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--shards", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=psutil.cpu_count())
    options = parser.parse_args()
    recipe = load_recipe(Path(options.recipe))
    with tempfile.TemporaryDirectory(prefix="zydaflow-benchmark-") as name:
        folder = Path(name)
        real = recipe.model_copy(update={"output": recipe.output.model_copy(update={"path": str(folder / "real")})})
        small = report_shards(folder, recipe.tokenizer, options.shards, options.workers)
        run_here(real)
        for opened in (real, small):
            print(f"opening the finished run {opened.name}: {command(opened, options.workers):.2f} s")


if __name__ == "__main__":
    main()
