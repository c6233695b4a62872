"""Compiles kernels by running a few tiny documents through them; numba then finds them in its cache."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from zydaflow import dedup, signals, transforms
from zydaflow.kernels.characters import blank
from zydaflow.kernels.text import from_arrow
from zydaflow.recipe import DedupSpec, ShingleSpec


def compile_kernels(names: Sequence[str] = (), steps: Sequence[str] = ()) -> None:
    """Those of the stages, of the named signals that a text alone determines, and of the named transforms.

    Takes about a second where the cache is warm.
    """
    texts = pa.array(
        ["one two three four", "one two three four", "ein Text, ÄÖÜ " * 5 + "-" * 10, ""], pa.large_string()
    )
    transforms.apply(steps, texts)
    by_text = [name for name in names if signals.SIGNALS.family(name) is None and not name.startswith("language")]
    signals.measure(by_text, texts, texts, signals.Resources())
    blank(from_arrow(texts))
    for unit in ("word", "character"):
        sketch = dedup.sketch(texts, ShingleSpec(unit=unit, size=3), 8, 1)
    for signatures in (sketch.signatures, _mapped(sketch.signatures)):
        keys = dedup.band_keys(signatures, 4, 2)
    table = dedup.by_key_range(keys)
    blocks = [dedup.Block(_mapped(table.packed), 0)]
    edges = next(dedup.forest(blocks, "all", np.zeros(1, np.int64), 10**6, np.empty)).documents
    for pairs in (edges, _mapped(edges)):
        clusters = dedup.components([pairs], len(texts))
    for spec in (
        DedupSpec(permutations=8, bands=4, rows=2),
        DedupSpec(permutations=8, bands=4, rows=2, verify="exact"),
        DedupSpec(permutations=8, bands=4, rows=2, verify="none", passes=("joint",)),
    ):
        _decide(texts, clusters, sketch.signatures, spec)


def _mapped(array: np.ndarray) -> np.ndarray:
    """The array as a memory-mapped file gives it: numba takes what can be written to for another type."""
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def _decide(texts: pa.Array, clusters: dedup.Clusters, signatures: np.ndarray, spec: DedupSpec) -> None:
    numbers = clusters.members.astype(np.int64)
    dataset = np.zeros(len(numbers), np.int32)
    order = dedup.keeper_order(clusters.offsets, dataset, numbers)
    exact = np.zeros((len(numbers), 0, 2), np.uint64)
    members = dedup.Members(clusters.offsets, order, dataset, signatures[numbers], exact)
    sets = dedup.shingle_sets(texts.take(pa.array(numbers)), spec.shingle)
    dedup.decide(members, spec, dedup.roles([False], spec.passes), 4, 2, sets)
    dedup.text_hashes(texts)
    place = {"dataset": "d", "file": "f", "position": 0, "id": None, "text_hash": b"\0" * 16, "bytes": 1}
    dedup.cluster_ids(pa.Table.from_pylist([place], dedup.DOCUMENTS))
