"""Times deduplication from stored signatures to evidence, through Ray and disk, on N documents without text.

    python tests/benchmarks/scale.py N [--workers 2] [--memory-per-task 2GB] [--share 0.4] [--component M] [--out DIR]

Signatures and places are made part by part. The share of the documents that have duplicates lies in

- two hot buckets of 100,000 documents (1 % of N if that is less): identical ones; different ones with a common band,
- chains, an eighth of the rest: one of 1 % of N, or of M documents whatever that leaves, the others of 100; each
  document is half like the one before it and half like the one after it,
- clusters of power-law size up to 1 % of N, as similar to a common origin as a uniform draw from 0.3 to 1 says,

all of them strewn over three datasets. Prints time and rate of each stage, the peak memory of all processes together
(PSS of anonymous and shared pages) during each, and the disk that each takes.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import pyarrow as pa
from numba import njit
from pipeline import Memory, _own_memory, _title

from zydaflow.engine import on_every_node, run_units, session
from zydaflow.kernels.shingles import finish
from zydaflow.provenance.commits import Artefact, Store
from zydaflow.provenance.tables import ArrowFile
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.stages import cluster, decide, evidence, match
from zydaflow.stages import manifest as manifests
from zydaflow.stages.keeping import DOCUMENTS
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.measuring import measured_schema
from zydaflow.stages.sketching import signature_schema
from zydaflow.stages.unit import Done, Timing, Unit
from zydaflow.stages.warmup import compile_kernels

PERMUTATIONS, ROWS = 128, 4
DATASETS = ("books", "papers", "web")
PART = 65_536  # documents; 256 MB of text at 4 kB each
ALONE, CLUSTER, CHAIN, IDENTICAL, ONE_BAND = range(5)
AREAS = ("signatures", "documents", "bands", "match", "cluster", "decide")


@njit(cache=True, nogil=True)
def draw(group: int, column: int, salt: int) -> np.uint64:
    """A random number that depends on nothing else."""
    return finish(finish(np.uint64(salt) << np.uint64(56) | np.uint64(group)) + np.uint64(column))


@njit(cache=True, nogil=True)
def fill(first: int, shape: np.ndarray, group: np.ndarray, link: np.ndarray, out: np.ndarray) -> None:
    """Signatures (rows of `out`) of documents first, first + 1, … of these shapes, groups and places in a chain."""
    for row in range(len(out)):
        document = first + row
        same = 0.3 + 0.7 * (np.float64(draw(document, 0, 1)) / 2.0**64)
        for k in range(out.shape[1]):
            kind = shape[row]
            if kind == CHAIN:
                value = draw(link[row] + (k // ROWS + link[row]) % 2, k, 2)
            elif kind == IDENTICAL or (kind == ONE_BAND and k < ROWS):
                value = draw(kind, k, 3)
            elif kind == CLUSTER and np.float64(draw(document, k, 4)) / 2.0**64 < same:
                value = draw(group[row], k, 5)
            else:
                value = draw(document, k, 6)
            out[row, k] = np.uint32(value >> np.uint64(32))


def shapes_of(n: int, share: float, component: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shape uint8, group int32, place in a chain int32 (two chains are never neighbours), of each of n documents."""
    rng = np.random.default_rng(1)
    shape, group, link = np.zeros(n, np.uint8), np.zeros(n, np.int32), np.zeros(n, np.int32)
    members = rng.permutation(n).astype(np.uint32)[: int(n * share)]
    hot = min(100_000, n // 100)
    shape[members[:hot]], shape[members[hot : 2 * hot]] = IDENTICAL, ONE_BAND
    members = members[2 * hot :]
    longest = component or n // 100
    chained, members = np.split(members, [max(len(members) // 8, component)])
    shape[chained] = CHAIN
    places = np.arange(len(chained))
    link[chained] = places + 2 * (np.maximum(places - longest, -1) // 100 + 1)
    shape[members] = CLUSTER
    sizes = np.minimum((rng.pareto(1.2, len(members)) + 2).astype(np.int64), max(2, n // 100))
    ends = np.cumsum(sizes)
    group[members] = np.searchsorted(ends, np.arange(len(members)), side="right")
    return shape, group, link


def parts_of(n: int) -> Iterator[tuple[int, int, int]]:
    """(dataset, first document, documents) of each part; the datasets are of about the same size."""
    for dataset in range(len(DATASETS)):
        start, stop = n * dataset // len(DATASETS), n * (dataset + 1) // len(DATASETS)
        for first in range(start, stop, PART):
            yield dataset, first, min(PART, stop - first)


def make(store: Store, n: int, share: float, component: int) -> Manifest:
    """The tables that preparing would leave, and their manifest."""
    shapes = shapes_of(n, share, component)
    signals = write(store, "signals", "of-every-part", pa.RecordBatch.from_pylist([{}] * PART, measured_schema(())))
    parts = [
        make_part(store, signals, dataset, first, *(column[first : first + rows] for column in shapes))
        for dataset, first, rows in parts_of(n)
    ]
    return Manifest(DATASETS, tuple(parts))


def make_part(
    store: Store, signals: Artefact, dataset: int, first: int, shape: np.ndarray, group: np.ndarray, link: np.ndarray
) -> Part:
    values = np.empty((len(shape), PERMUTATIONS), np.uint32)
    fill(first, shape, group, link, values)
    words = pa.array(np.full(len(shape), 600))
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), PERMUTATIONS)
    signatures = pa.RecordBatch.from_arrays([words, vectors], schema=signature_schema(PERMUTATIONS))
    name = f"{DATASETS[dataset]}/{first:012d}"
    return Part(
        dataset=dataset,
        file=f"{name}.parquet",
        first=first,
        rows=len(shape),
        keep=name,
        signals=signals,
        text=Artefact("none", 0, "", 0),
        documents=write(store, "documents", name, documents_of(first, values)),
        signatures=write(store, "signatures", name, signatures),
    )


def documents_of(first: int, values: np.ndarray) -> pa.RecordBatch:
    """Rows of DOCUMENTS; the hash of the text is that of the signature."""
    rows = np.arange(len(values))
    hashes = pa.py_buffer(np.ascontiguousarray(values[:, :4] ^ values[:, 60:64] ^ values[:, 124:]))
    columns = [
        pa.array(rows),
        pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(values), [None, hashes]),
        pa.array(np.full(len(values), 4100)),
        pa.array(np.full(len(values), 4000)),
        pa.array(rows.astype(np.uint32)),
        pa.array(rows + first + 10**12).cast(pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=DOCUMENTS)


def write(store: Store, area: str, name: str, batch: pa.RecordBatch) -> Artefact:
    with ExitStack() as outputs:
        file = ArrowFile(outputs, store, f"work/{area}", batch.schema)
        file.write(batch)
        return file.finish(f"work/{area}/{name}.arrow")


def recipe_of(out: str, memory_per_task: str) -> Recipe:
    return load_recipe(
        {
            "name": "scale",
            "datasets": [{"name": name, "path": out} for name in DATASETS],
            "dedup": {"threshold": 0.4, "bands": PERMUTATIONS // ROWS, "rows": ROWS},
            "output": {"path": out},
            "resources": {"memory_per_task": memory_per_task},
        }
    )


class Stage(NamedTuple):
    name: str
    timing: Timing
    cpu: float  # seconds that the workers had of the cores, which a busy machine stretches less than the wall clock
    peak: int  # bytes of all processes


def deduplicate(store: Store, recipe: Recipe, manifest: Manifest, path: str) -> Iterator[Stage]:
    """Does the stages one after the other."""
    stages = {
        "bands": match.band_units,
        "match": match.match_units,
        "cluster": cluster.units,
        "decide": decide.units,
        "evidence": evidence.units,
    }
    for name, units_of in stages.items():
        memory, cpu = Memory(), cpu_seconds()
        memory.start()
        units = units_of(store, recipe, manifest, path)
        timing = run_units(store, name, units, recipe.resources.memory_per_task)
        memory.stopped.set()
        memory.join()
        yield Stage(name, timing, cpu_seconds() - cpu, memory.total + _own_memory(os.getpid()))


def cpu_seconds() -> float:
    """User and system time of all Ray workers so far."""
    times = [p.cpu_times() for p in psutil.Process().children(recursive=True) if "ray::" in _title(p)]
    return sum(t.user + t.system for t in times)


def warm_up(store: Store, number: int, workers: int) -> Done:
    """Ends when all workers are here, or one that is done would take the unit of another, which starts up later."""
    compile_kernels()
    here = store.path("started")
    here.mkdir(exist_ok=True)
    (here / str(number)).touch()
    while len(os.listdir(here)) < workers:
        os.sched_yield()
    return Done(0, 0)


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def report(store: Store, n: int, workers: int, stages: list[Stage]) -> None:
    heads = f"{'wall s':>8} {'work s':>8} {'CPU s':>8}"
    print(f"\n{'stage':<10} {'units':>6} {heads} {'documents/s per core':>21} {'peak GB':>8}")
    for name, timing, cpu, peak in stages:
        times = f"{timing.wall:>8.2f} {timing.seconds:>8.2f} {cpu:>8.2f}"
        print(f"{name:<10} {timing.units:>6} {times} {n / timing.wall / workers:>21,.0f} {peak / 1e9:>8.2f}")
    wall, cpu, peak = sum(s.timing.wall for s in stages), sum(s.cpu for s in stages), max(s.peak for s in stages)
    print(f"{'all':<10} {'':>6} {wall:>8.2f} {'':>8} {cpu:>8.2f} {n / wall / workers:>21,.0f} {peak / 1e9:>8.2f}")
    areas = {area: size_of(store.path("work") / area) for area in AREAS} | {"evidence": size_of(store.path("evidence"))}
    print("disk, bytes per document: " + ", ".join(f"{area} {size / n:.1f}" for area, size in areas.items()))
    counts = {k: v for stage in ("cluster", "evidence") for r in store.records(stage) for k, v in r.counts.items()}
    print(f"{n:,} documents: " + ", ".join(f"{count:,} {what}" for what, count in counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-per-task", default="2GB")
    parser.add_argument("--share", type=float, default=0.4)
    parser.add_argument("--component", type=int, default=0, help="documents of the longest chain, default: 1 %% of N")
    parser.add_argument("--out", help="default: a temporary folder, removed at the end")
    options = parser.parse_args()
    out = options.out or tempfile.mkdtemp(prefix="zydaflow-scale-")
    store, recipe = Store(out), recipe_of(out, options.memory_per_task)
    started = time.perf_counter()
    manifest = make(store, options.documents, options.share, options.component)
    path = manifests.save(store, manifest)
    os.sync()  # or the system would write them out while the stages are timed
    print(f"{options.documents:,} documents made in {time.perf_counter() - started:.1f} s")
    with session("local", options.workers):
        on_every_node(compile_kernels)
        starts = [Unit(f"{k}", warm_up, (k, options.workers), 0) for k in range(options.workers)]
        run_units(store, "start-up", starts, 0)
        stages = list(deduplicate(store, recipe, manifest, path))
    report(store, options.documents, options.workers, stages)
    if not options.out:
        shutil.rmtree(out)


if __name__ == "__main__":
    main()
