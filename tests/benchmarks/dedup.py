"""Measures deduplication without files or Ray, one thread, against plain Python in the same run.

    python tests/benchmarks/dedup.py [DOCUMENTS]

Text is generated prose; signatures are generated too: two fifths of the documents lie in clusters of power-law size, as
similar to a common origin as a uniform draw from 0.3 to 1 says. Then the two hot buckets: 100,000 identical documents,
and 100,000 different ones that share one band.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from datasketch import MinHash

from zydaflow.dedup.bands import RANGES, KeyTable, band_keys, by_key_range
from zydaflow.dedup.clusters import Clusters, components
from zydaflow.dedup.decide import Decision, Members, decide, hash_keys, keeper_order
from zydaflow.dedup.match import Block, forest
from zydaflow.dedup.roles import roles
from zydaflow.dedup.shingles import shingle_hash32
from zydaflow.dedup.sketch import sketch
from zydaflow.recipe import DedupSpec, ShingleSpec

sys.path.append(str(Path(__file__).resolve().parent.parent / "dedup"))
import twins

BANDS, ROWS, PERMUTATIONS = 32, 4, 128
SHARD = 262_144
SPEC = DedupSpec(bands=BANDS, rows=ROWS)
ROLES = roles([False] * 3, SPEC.passes)


class Timed(NamedTuple):
    result: object
    seconds: float


def timed(work: Callable, *arguments: object) -> Timed:
    started = time.perf_counter()
    result = work(*arguments)
    return Timed(result, time.perf_counter() - started)


def report(what: str, rate: float, unit: str, python: float) -> None:
    print(f"{what:<34}{rate:>12,.1f} {unit:<18}{rate / python:>8,.0f} × plain Python ({python:,.3g})")


def prose(documents: int) -> list[str]:
    """Documents of about 800 words drawn by Zipf's law from 50,000 of 2 to 11 letters, with capitals and commas."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfwypvbgk", k=chance.randint(2, 11))) for _ in range(50_000)]
    words += [f"{word}," for word in words[:2000]] + [word.title() for word in words[:5000]]
    ranks = np.minimum(np.random.default_rng(1).zipf(1.3, (documents, 800)) - 1, len(words) - 1)
    return [" ".join(words[rank] for rank in row) for row in ranks]


def signatures_of(documents: int) -> np.ndarray:
    """uint32 (documents, 128), as the module says."""
    rng = np.random.default_rng(2)
    signatures = rng.integers(0, 2**32, (documents, PERMUTATIONS), dtype=np.uint32)
    copies = rng.permutation(documents)[: documents * 2 // 5]
    sizes = np.minimum((rng.pareto(1.2, len(copies)) + 2).astype(np.int64), max(2, documents // 100))
    origin = np.repeat(np.cumsum(sizes) - sizes, sizes)[: len(copies)]
    for start in range(0, len(copies), SHARD):
        piece = slice(start, start + SHARD)
        origins = signatures[copies[origin[piece]]]
        same = rng.random(origins.shape) < rng.uniform(0.3, 1, len(origins))[:, None]
        signatures[copies[piece]] = np.where(same, origins, signatures[copies[piece]])
    return signatures


def measure_sketch() -> None:
    texts = prose(6000)
    array = pa.array(texts, pa.large_string())
    sketch(array[:10], ShingleSpec())
    sketch(array[:10], ShingleSpec(unit="character", size=25))
    sample = texts[:20]
    python = sum(map(len, sample)) / 1e6 / timed(sketch_plainly, sample).seconds
    for shingle in (ShingleSpec(), ShingleSpec(unit="character", size=25)):
        seconds = min(timed(sketch, array, shingle).seconds for _ in range(3))
        report(f"sketch, {shingle.size} {shingle.unit}s × {PERMUTATIONS}", array.nbytes / 1e6 / seconds, "MB/s", python)


def sketch_plainly(texts: list[str]) -> None:
    for text in texts:
        minhash = MinHash(PERMUTATIONS, hashfunc=shingle_hash32, scheme="affine32")
        minhash.update_batch([shingle.encode() for shingle in twins.shingles(text, "word", 13)])


def lay_out(signatures: np.ndarray) -> list[KeyTable]:
    tables = []
    for start in range(0, len(signatures), SHARD):
        part = signatures[start : start + SHARD]
        tables.append(by_key_range(band_keys(part, BANDS, ROWS)))
    return tables


def match(tables: list[KeyTable], boundaries: np.ndarray) -> list[np.ndarray]:
    edges = []
    for r in range(RANGES):
        blocks = [Block(t.packed[t.bounds[r] : t.bounds[r + 1]], i * SHARD) for i, t in enumerate(tables)]
        edges += [step.documents for step in forest(blocks, "all", boundaries, 10**9, np.empty)]
    return edges


def members_of(signatures: np.ndarray, clusters: Clusters, boundaries: np.ndarray) -> Members:
    docs = clusters.members.astype(np.int64)
    dataset = (np.searchsorted(boundaries, docs, side="right") - 1).astype(np.int32)
    hashes = np.random.default_rng(3).integers(0, 256, (len(docs), 16), dtype=np.uint8)
    order = keeper_order(clusters.offsets, dataset, *hash_keys(hashes), docs)
    return Members(clusters.offsets, order, dataset, signatures[docs], np.zeros((len(docs), 0, 2), np.uint64))


def match_plainly(keys: np.ndarray) -> None:
    for band in keys.T.tolist():
        first: dict[int, int] = {}
        edges = defaultdict(list)
        for doc, key in enumerate(band):
            if first.setdefault(key, doc) != doc:
                edges[first[key]].append(doc)


def decide_plainly(members: Members, clusters: np.ndarray) -> None:
    for cluster in clusters:
        order = members.order[members.offsets[cluster] : members.offsets[cluster + 1]].tolist()
        rows = {i: members.signatures[i].tolist() for i in order}
        bands = {i: [tuple(rows[i][b * ROWS : (b + 1) * ROWS]) for b in range(BANDS)] for i in order}

        def alike(i: int, j: int, rows: dict = rows) -> bool:
            return sum(a == b for a, b in zip(rows[i], rows[j], strict=True)) >= SPEC.threshold * PERMUTATIONS

        may = twins.passes(SPEC.passes)
        twins.decide(order, members.dataset, bands.__getitem__, alike, twins.never, may, SPEC.compare_limit)


def measure_matching(documents: int) -> None:
    signatures = signatures_of(documents)
    boundaries = np.array([0, documents // 3, 2 * documents // 3])
    run(signatures[:5000], np.zeros(1))  # compiles
    plain_keys = band_keys(signatures[:20_000], BANDS, ROWS)
    python = plain_keys.size / 1e6 / timed(match_plainly, plain_keys).seconds
    tables, seconds = timed(lay_out, signatures)
    total = seconds
    report("band keys, laid out by range", documents * BANDS / 1e6 / seconds, "M keys/s", python)
    edges, seconds = timed(match, tables, boundaries)
    total += seconds
    report("forest of candidates", documents * BANDS / 1e6 / seconds, "M keys/s", python)
    clusters, seconds = timed(components, edges, documents)
    total += seconds
    members, gather = timed(members_of, signatures, clusters, boundaries)
    sizes = np.diff(clusters.offsets)
    few = np.flatnonzero(sizes <= 10)[:200]  # plain Python compares all pairs, so only small ones
    python = int(sizes[few].sum()) / timed(decide_plainly, members, few).seconds
    decision, deciding = timed(decide, members, SPEC, BANDS, ROWS)
    report("decide", len(clusters.members) / deciding, "members/s", python)
    total += gather + deciding
    print(f"{documents:,} documents, {len(clusters.members):,} in {len(clusters.offsets) - 1:,} clusters, ", end="")
    print(f"{len(decision.removed):,} removed: {documents / total:,.0f} documents/s from signatures to decision")


def run(signatures: np.ndarray, boundaries: np.ndarray) -> tuple[Clusters, Decision]:
    clusters = components(match(lay_out(signatures), boundaries), len(signatures))
    return clusters, decide(members_of(signatures, clusters, boundaries), SPEC, ROLES, BANDS, ROWS)


def measure_hot_buckets() -> None:
    rng = np.random.default_rng(4)
    for n in (50_000, 100_000):
        identical = np.tile(rng.integers(0, 2**32, PERMUTATIONS, dtype=np.uint32), (n, 1))
        different = rng.integers(0, 2**32, (n, PERMUTATIONS), dtype=np.uint32)
        different[:, :ROWS] = 7
        for what, signatures in (("identical", identical), ("different, one band shared", different)):
            (_, decision), seconds = timed(run, signatures, np.zeros(1))
            met = int(decision.limit_met.sum())
            print(f"{n:,} {what}: {seconds:.2f} s, {len(decision.removed):,} removed, limit met {met:,} times")


if __name__ == "__main__":
    measure_sketch()
    measure_matching(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    measure_hot_buckets()
