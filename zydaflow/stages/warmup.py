"""Compiles every kernel by running a few tiny documents through all of them; numba then finds them in its cache."""

import numpy as np
import pyarrow as pa

from zydaflow import dedup, signals, transforms
from zydaflow.kernels.characters import blank
from zydaflow.kernels.text import from_arrow
from zydaflow.recipe import DedupSpec, ShingleSpec


def compile_kernels() -> None:
    """Takes about a second where the cache is warm."""
    texts = pa.array(
        ["one two three four", "one two three four", "ein Text, ÄÖÜ " * 5 + "-" * 10, ""], pa.large_string()
    )
    texts = transforms.apply(list(transforms.TRANSFORMS), texts)
    names = [name for name in signals.SIGNALS if not name.startswith("language")]
    signals.measure(names, texts, texts, signals.Resources())
    blank(from_arrow(texts))
    for unit in ("word", "character"):
        sketch = dedup.sketch(texts, ShingleSpec(unit=unit, size=3), 8, 1)
    mapped = np.frombuffer(sketch.signatures.tobytes(), np.uint32).reshape(sketch.signatures.shape)
    for signatures in (sketch.signatures, mapped):  # numba takes what can be written to for another type
        keys = dedup.band_keys(signatures, 4, 2)
    table = dedup.by_key_range(keys, sketch.n_words > 0)
    edges = dedup.forest(table.keys, table.rows, "all", np.zeros(1, np.int64))
    clusters = dedup.components([edges], len(texts))
    for verify in ("signature", "exact"):
        _decide(texts, clusters, sketch.signatures, DedupSpec(permutations=8, bands=4, rows=2, verify=verify))


def _decide(texts: pa.LargeStringArray, clusters: dedup.Clusters, signatures: np.ndarray, spec: DedupSpec) -> None:
    members = clusters.members.astype(np.int64)
    dataset = np.zeros(len(members), np.int32)
    order = dedup.keeper_order(clusters.offsets, dataset, members)
    sets = dedup.shingle_sets(texts.take(pa.array(members)), spec.shingle)
    decision = dedup.decide(dedup.Members(clusters.offsets, order, dataset, signatures[members]), spec, 4, 2, sets)
    place = {"dataset": "d", "file": "f", "position": 0, "id": None, "text_hash": b"\0" * 16, "bytes": 1}
    documents = pa.Table.from_pylist([place] * len(members), dedup.DOCUMENTS)
    dedup.removed_table(documents, dedup.Members(clusters.offsets, order, dataset, signatures[members]), decision)
