"""Rows of evidence, value by value."""

import hashlib

import numpy as np
import pyarrow as pa

from zydaflow.dedup.decide import Decision, Members
from zydaflow.dedup.evidence import CLUSTERS, DOCUMENTS, REMOVED, clusters_table, removed_table
from zydaflow.dedup.shingles import shingle_hash

# Two clusters: documents 0-2 (0 stays, 1 and 2 go for it) and 3-4 (both stay).
MEMBERS = Members(
    offsets=np.array([0, 3, 5]),
    order=np.arange(5),
    dataset=np.array([0, 0, 1, 0, 1], np.int32),
    signatures=np.zeros((5, 8), np.uint32),
)
HASHES = [hashlib.md5(bytes([i])).digest() for i in range(5)]
DECISION = Decision(
    kept=np.array([-1, 0, 0, -1, -1]),
    within=np.array([False, True, False, False, False]),
    agreement=np.array([0, 8, 4, 0, 0], np.int32),
    bands_shared=np.array([0, 2, 1, 0, 0], np.int32),
    common=None,
    union=None,
    limit_met=np.array([3, 0]),
)


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


def test_removed_rows() -> None:
    table = removed_table(documents(), MEMBERS, DECISION)
    assert table.schema.equals(REMOVED, check_metadata=True)
    assert table.schema.metadata == {b"zydaflow_schema_version": b"1"}
    cluster = f"{shingle_hash(b'best' + bytes(1) + b'x.jsonl' + bytes(1) + b'0'):016x}"
    kept = {
        "kept_dataset": "best",
        "kept_file": "x.jsonl",
        "kept_position": 0,
        "kept_id": "one",
        "kept_text_hash": HASHES[0].hex(),
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


def test_cluster_rows() -> None:
    table = clusters_table(documents(), MEMBERS, DECISION)
    assert table.schema.equals(CLUSTERS, check_metadata=True)
    first, second = table.to_pylist()
    assert first == {
        "cluster": removed_table(documents(), MEMBERS, DECISION)["cluster"][0].as_py(),
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
    assert removed_table(documents(), MEMBERS, exact)["jaccard"].to_pylist() == [0.75, 1 / 3]
    first, second = clusters_table(documents(), MEMBERS, exact).to_pylist()
    assert (first["lowest_similarity"], first["median_similarity"]) == (1 / 3, 1 / 3)
    assert second["lowest_similarity"] is None


def test_documents_in_chunks_and_slices_are_the_same() -> None:
    once = documents()
    chunks = pa.concat_tables([once.slice(0, 1), once.slice(1, 3), once.slice(4)])
    sliced = pa.concat_tables([once, once]).combine_chunks().slice(5)
    for table in (chunks, sliced):
        assert removed_table(table, MEMBERS, DECISION).equals(removed_table(once, MEMBERS, DECISION))
        assert clusters_table(table, MEMBERS, DECISION).equals(clusters_table(once, MEMBERS, DECISION))


def test_no_members_no_rows() -> None:
    nobody = np.empty(0, np.int32)
    members = Members(np.zeros(1, np.int64), nobody.astype(np.int64), nobody, np.empty((0, 8), np.uint32))
    decision = Decision(
        nobody.astype(np.int64), nobody.astype(bool), nobody, nobody, None, None, nobody.astype(np.int64)
    )
    assert removed_table(DOCUMENTS.empty_table(), members, decision).equals(REMOVED.empty_table())
    assert clusters_table(DOCUMENTS.empty_table(), members, decision).equals(CLUSTERS.empty_table())
