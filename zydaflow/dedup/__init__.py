"""Near-duplicates: sketch → bands → candidates → clusters → decision → evidence."""

from zydaflow.dedup.bands import RANGES, KeyTable, band_keys, by_key_range, choose, curve, probability, warn_if_blind
from zydaflow.dedup.clusters import Clusters, components, partition
from zydaflow.dedup.decide import Decision, Members, decide, hash_keys, keeper_order
from zydaflow.dedup.evidence import CLUSTERS, DOCUMENTS, REMOVED, clusters_table, removed_table
from zydaflow.dedup.match import Link, forest
from zydaflow.dedup.shingles import ShingleSets, shingle_hash, shingle_hash32, shingle_sets
from zydaflow.dedup.sketch import Sketch, sketch

__all__ = [
    "CLUSTERS",
    "DOCUMENTS",
    "RANGES",
    "REMOVED",
    "Clusters",
    "Decision",
    "KeyTable",
    "Link",
    "Members",
    "ShingleSets",
    "Sketch",
    "band_keys",
    "by_key_range",
    "choose",
    "clusters_table",
    "components",
    "curve",
    "decide",
    "forest",
    "hash_keys",
    "keeper_order",
    "partition",
    "probability",
    "removed_table",
    "shingle_hash",
    "shingle_hash32",
    "shingle_sets",
    "sketch",
    "warn_if_blind",
]
