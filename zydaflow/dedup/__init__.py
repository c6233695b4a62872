"""Near-duplicates: sketch → bands → candidates → clusters → decision → evidence."""

from zydaflow.dedup.bands import RANGES, KeyTable, band_keys, by_key_range, choose, curve, probability, warn_if_blind
from zydaflow.dedup.clusters import Clusters, components, runs
from zydaflow.dedup.decide import Decision, Members, decide, hash_keys, keeper_order
from zydaflow.dedup.evidence import CLUSTERS, DOCUMENTS, REMOVED, cluster_ids, clusters_table, removed_table
from zydaflow.dedup.exact import text_hashes
from zydaflow.dedup.match import Block, Link, forest
from zydaflow.dedup.roles import Roles, roles
from zydaflow.dedup.shingles import ShingleSets, shingle_hash, shingle_hash32, shingle_sets
from zydaflow.dedup.sketch import Sketch, sketch

__all__ = [
    "CLUSTERS",
    "DOCUMENTS",
    "RANGES",
    "REMOVED",
    "Block",
    "Clusters",
    "Decision",
    "KeyTable",
    "Link",
    "Members",
    "Roles",
    "ShingleSets",
    "Sketch",
    "band_keys",
    "by_key_range",
    "choose",
    "cluster_ids",
    "clusters_table",
    "components",
    "curve",
    "decide",
    "forest",
    "hash_keys",
    "keeper_order",
    "probability",
    "removed_table",
    "roles",
    "runs",
    "shingle_hash",
    "shingle_hash32",
    "shingle_sets",
    "sketch",
    "text_hashes",
    "warn_if_blind",
]
