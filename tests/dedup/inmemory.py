"""Dedup from texts to a decision in memory: the stages, without their files."""

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.dedup.bands import RANGES, band_keys, by_key_range, choose
from zydaflow.dedup.clusters import Clusters, components
from zydaflow.dedup.decide import Decision, Members, decide, hash_keys, keeper_order
from zydaflow.dedup.match import Block, forest
from zydaflow.dedup.roles import roles
from zydaflow.dedup.shingles import shingle_sets
from zydaflow.dedup.sketch import sketch


@dataclass(frozen=True)
class Shingle:
    unit: str = "word"
    size: int = 13


@dataclass(frozen=True)
class Spec:
    """The shape of a recipe's dedup section."""

    shingle: Shingle = field(default_factory=Shingle)
    permutations: int = 128
    threshold: float = 0.4
    bands: int | None = None
    rows: int | None = None
    passes: tuple[str, ...] = ("within", "across")
    verify: str = "signature"
    compare_limit: int = 64

    def split(self) -> tuple[int, int]:
        if self.bands:
            return self.bands, self.rows
        return choose(self.threshold, self.permutations, self.verify)


@dataclass(frozen=True)
class Result:
    spec: Spec
    clusters: Clusters
    members: Members
    decision: Decision
    names: list[str]  # of all documents, in canonical order: "dataset/place"
    n_words: np.ndarray
    boundaries: np.ndarray

    def name_of(self, member: int) -> str:
        return self.names[self.clusters.members[member]]

    @property
    def lost(self) -> dict[str, str]:
        """Each removed document and the one that stays for it."""
        return {self.name_of(i): self.name_of(self.decision.kept[i]) for i in self.decision.removed}

    @property
    def survivors(self) -> set[str]:
        return set(self.names) - set(self.lost)


def links(passes: tuple[str, ...]) -> str:
    """How documents are linked so that every pair of the passes lies in one cluster."""
    return passes[0] if passes in (("within",), ("across",)) else "all"


def dedup(datasets: dict[str, list[str]], spec: Spec, *, shards: int = 1, seed: int = 1) -> Result:
    """Runs all steps over `datasets` (in rank order; a document's place is its number), cut into `shards`."""
    names = [f"{name}/{place}" for name, texts in datasets.items() for place in range(len(texts))]
    texts = [text for part in datasets.values() for text in part]
    rank = np.repeat(np.arange(len(datasets)), [len(part) for part in datasets.values()])
    boundaries = np.cumsum([0, *(len(part) for part in datasets.values())])[:-1]
    sketches, tables, firsts = [], [], []
    bands, rows = spec.split()
    for piece in np.array_split(np.arange(len(texts)), shards):
        made = sketch(pa.array([texts[i] for i in piece], pa.large_string()), spec.shingle, spec.permutations, seed)
        sketches.append(made)
        tables.append(by_key_range(band_keys(made.signatures, bands, rows)))
        firsts.append(piece[0] if len(piece) else 0)
    edges = []
    for r in range(RANGES):
        blocks = [
            Block(t.packed[t.bounds[r] : t.bounds[r + 1]], first) for t, first in zip(tables, firsts, strict=True)
        ]
        edges += [step.documents for step in forest(blocks, links(spec.passes), boundaries, 10**9, np.empty)]
    clusters = components(edges, len(texts))
    docs = clusters.members.astype(np.int64)
    signatures = np.concatenate([made.signatures for made in sketches])[docs]
    inside = [texts[i] for i in docs]
    hashes = np.array([list(xxhash.xxh3_128_digest(text.encode())) for text in inside], np.uint8).reshape(-1, 16)
    order = keeper_order(clusters.offsets, rank[docs], *hash_keys(hashes), docs)
    exact = np.zeros((len(docs), 0, 2), np.uint64)
    members = Members(clusters.offsets, order, rank[docs].astype(np.int32), signatures, exact)
    sets = shingle_sets(pa.array(inside, pa.large_string()), spec.shingle) if spec.verify == "exact" else None
    decision = decide(members, spec, roles([False] * len(datasets), spec.passes), bands, rows, sets)
    n_words = np.concatenate([made.n_words for made in sketches])
    return Result(spec, clusters, members, decision, names, n_words, boundaries)


__all__ = ["Result", "Shingle", "Spec", "dedup", "links", "replace"]
