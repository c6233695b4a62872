"""Rows of evidence, value by value."""

import hashlib

import numpy as np
import pyarrow as pa

from zydaflow.dedup.decide import Decision, Members
from zydaflow.dedup.evidence import CLUSTERS, DOCUMENTS, REMOVED, cluster_ids, clusters_table, removed_table
from zydaflow.dedup.shingles import shingle_hash
from zydaflow.kernels.greedy import ACROSS, EXACT, STAYS, WITHIN

# Two clusters: documents 0-2 (0 stays, 1 and 2 go for it) and 3-4 (both stay).
MEMBERS = Members(
    offsets=np.array([0, 3, 5]),
    order=np.arange(5),
    dataset=np.array([0, 0, 1, 0, 1], np.int32),
    signatures=np.zeros((5, 8), np.uint32),
    exact=np.zeros((5, 0, 2), np.uint64),
)
HASHES = [hashlib.md5(bytes([i])).digest() for i in range(5)]
DECISION = Decision(
    kept=np.array([-1, 0, 0, -1, -1]),
    outcome=np.array([STAYS, WITHIN, ACROSS, STAYS, STAYS], np.uint8),
    agreement=np.array([0, 8, 4, 0, 0], np.int32),
    bands_shared=np.array([0, 2, 1, 0, 0], np.int32),
    common=None,
    union=None,
    limit_met=np.array([3, 0]),
    doubtful=np.array([0, 0]),
    matched=np.zeros((5, 2), bool),
)
DATASETS = pa.array(["best", "näxt"])


def documents() -> pa.Table:
    return pa.table(
        {
            "dataset": ["best", "best", "näxt", "best", "näxt"],
            "file": ["x.jsonl", "x.jsonl", "y.parquet", "z.jsonl", "y.parquet"],
            "position": [0, 120, 7, 5, 9],
            "id": ["one", None, "three", "4", None],
            "text_hash": pa.array(HASHES, pa.binary(16)),
            "bytes": [10, 20, 30, 40, 50],
        },
        DOCUMENTS,
    )


def ids_of(table: pa.Table) -> pa.Array:
    return cluster_ids(table.take([0, 3]))


def removals(table: pa.Table, decision: Decision) -> pa.Table:
    rows = decision.removed
    return removed_table(table.take(rows), table.take(decision.kept[rows]), MEMBERS, decision, rows, ids_of(table))


def clusters(table: pa.Table, decision: Decision) -> pa.Table:
    return clusters_table(ids_of(table), DATASETS, MEMBERS, decision)


def test_removed_rows() -> None:
    table = removals(documents(), DECISION)
    assert table.schema.equals(REMOVED, check_metadata=True)
    assert table.schema.metadata == {b"zydaflow_schema_version": b"2"}
    cluster = f"{shingle_hash(b'best' + bytes(1) + b'x.jsonl' + bytes(1) + b'0'):016x}"
    kept = {
        "kept_dataset": "best",
        "kept_file": "x.jsonl",
        "kept_position": 0,
        "kept_id": "one",
        "kept_text_hash": HASHES[0].hex(),
        "tokens": None,
        "kept_tokens": None,
        "jaccard": None,
        "cluster": cluster,
        "cluster_size": 3,
    }
    own = {"dataset": "best", "file": "x.jsonl", "position": 120, "id": None, "text_hash": HASHES[1].hex(), "bytes": 20}
    other = {
        "dataset": "näxt",
        "file": "y.parquet",
        "position": 7,
        "id": "three",
        "text_hash": HASHES[2].hex(),
        "bytes": 30,
    }
    assert table.to_pylist() == [
        own | kept | {"outcome": "removed_within", "jaccard_estimate": 1.0, "bands_shared": 2},
        other | kept | {"outcome": "removed_across", "jaccard_estimate": 0.5, "bands_shared": 1},
    ]
    equal = DECISION._replace(outcome=np.array([STAYS, EXACT, ACROSS, STAYS, STAYS], np.uint8))
    assert removals(documents(), equal)["outcome"].to_pylist() == ["removed_exact", "removed_across"]


def test_cluster_rows() -> None:
    table = clusters(documents(), DECISION)
    assert table.schema.equals(CLUSTERS, check_metadata=True)
    first, second = table.to_pylist()
    assert first == {
        "cluster": removals(documents(), DECISION)["cluster"][0].as_py(),
        "size": 3,
        "members": [{"dataset": "best", "documents": 2}, {"dataset": "näxt", "documents": 1}],
        "kept": 1,
        "lowest_similarity": 0.5,
        "median_similarity": 0.5,
        "compare_limit_met": 3,
    }
    assert second["members"] == [{"dataset": "best", "documents": 1}, {"dataset": "näxt", "documents": 1}]
    assert (second["kept"], second["lowest_similarity"], second["median_similarity"]) == (2, None, None)
    assert second["cluster"] != first["cluster"]


def test_exact_similarities() -> None:
    exact = DECISION._replace(common=np.array([0, 3, 1, 0, 0]), union=np.array([0, 4, 3, 0, 0]))
    assert removals(documents(), exact)["jaccard"].to_pylist() == [0.75, 1 / 3]
    first, second = clusters(documents(), exact).to_pylist()
    assert (first["lowest_similarity"], first["median_similarity"]) == (1 / 3, 1 / 3)
    assert second["lowest_similarity"] is None


def test_documents_in_chunks_and_slices_are_the_same() -> None:
    once = documents()
    chunks = pa.concat_tables([once.slice(0, 1), once.slice(1, 3), once.slice(4)])
    sliced = pa.concat_tables([once, once]).combine_chunks().slice(5)
    for table in (chunks, sliced):
        assert removals(table, DECISION).equals(removals(once, DECISION))
        assert clusters(table, DECISION).equals(clusters(once, DECISION))


def test_no_members_no_rows() -> None:
    nobody, long = np.empty(0, np.int32), np.empty(0, np.int64)
    exact = np.empty((0, 0, 2), np.uint64)
    members = Members(np.zeros(1, np.int64), long, nobody, np.empty((0, 8), np.uint32), exact)
    outcome, matched = np.empty(0, np.uint8), np.empty((0, 2), bool)
    decision = Decision(long, outcome, nobody, nobody, None, None, long, long, matched)
    ids, none = cluster_ids(DOCUMENTS.empty_table()), DOCUMENTS.empty_table()
    assert removed_table(none, none, members, decision, long, ids).equals(REMOVED.empty_table())
    assert clusters_table(ids, DATASETS, members, decision).equals(CLUSTERS.empty_table())
