"""Evidence: a row for every removal, naming the document that stays instead, and a row for every cluster."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.dedup.decide import Decision, Members
from zydaflow.kernels.shingles import hash_texts
from zydaflow.kernels.text import from_arrow

SCHEMA_VERSION = "2"
OUTCOMES = pa.array(["", "removed_exact", "removed_within", "removed_across"])  # by STAYS, EXACT, WITHIN, ACROSS

DOCUMENTS = pa.schema(
    [
        ("dataset", pa.string()),
        ("file", pa.string()),
        ("position", pa.int64()),
        ("id", pa.string()),
        ("text_hash", pa.binary(16)),
        ("bytes", pa.int64()),
    ]
)
"""What the tables are built from: place, id, hash of the kept text and bytes of the loaded text of every member."""

_METADATA = {"zydaflow_schema_version": SCHEMA_VERSION}

REMOVED = pa.schema(
    [
        ("dataset", pa.string()),
        ("file", pa.string()),
        ("position", pa.int64()),
        ("id", pa.string()),
        ("text_hash", pa.string()),  # hexadecimal
        ("bytes", pa.int64()),  # of the text as loaded
        ("tokens", pa.int64()),  # null without a tokenizer
        ("kept_dataset", pa.string()),
        ("kept_file", pa.string()),
        ("kept_position", pa.int64()),
        ("kept_id", pa.string()),
        ("kept_text_hash", pa.string()),
        ("kept_tokens", pa.int64()),
        ("outcome", pa.string()),  # removed_exact, removed_within, removed_across
        ("jaccard_estimate", pa.float64()),  # share of equal values in the two signatures
        ("jaccard", pa.float64()),  # exact, of the two sets of shingles; null unless verified so
        ("bands_shared", pa.int32()),
        ("cluster", pa.string()),
        ("cluster_size", pa.int64()),
    ],
    _METADATA,
)

CLUSTERS = pa.schema(
    [
        ("cluster", pa.string()),  # 16 hexadecimal digits, from the place of its first document
        ("size", pa.int64()),
        ("members", pa.list_(pa.struct([("dataset", pa.string()), ("documents", pa.int64())]))),  # in rank order
        ("kept", pa.int64()),
        ("lowest_similarity", pa.float64()),  # of a removed document to its kept one; null where none is removed
        ("median_similarity", pa.float64()),  # the lower one of two middle values
        ("compare_limit_met", pa.int64()),  # lookups (document, band, pass) that found more than were compared
    ],
    _METADATA,
)


def removed_table(
    gone: pa.Table, stays: pa.Table, members: Members, decision: Decision, rows: np.ndarray, clusters: pa.Array
) -> pa.Table:
    """The removals of some documents, of schema REMOVED, in their order; tokens are null.

    Args:
        gone, stays: of schema DOCUMENTS, a row for each of them, and for the one that stays instead.
        members, decision: the clusters and what was decided.
        rows: int64 (r,), which of the m members they are.
        clusters: the id of each cluster.
    """
    sizes = np.diff(members.offsets)
    cluster = np.searchsorted(members.offsets, rows, side="right") - 1
    columns = {
        **{name: gone[name] for name in ("dataset", "file", "position", "id")},
        "text_hash": hexadecimal(gone["text_hash"]),
        "bytes": gone["bytes"],
        "tokens": pa.nulls(len(rows), pa.int64()),
        **{f"kept_{name}": stays[name] for name in ("dataset", "file", "position", "id")},
        "kept_text_hash": hexadecimal(stays["text_hash"]),
        "kept_tokens": pa.nulls(len(rows), pa.int64()),
        "outcome": OUTCOMES.take(pa.array(decision.outcome[rows])),
        "jaccard_estimate": decision.agreement[rows] / members.signatures.shape[1],
        "jaccard": _exact(decision, rows),
        "bands_shared": decision.bands_shared[rows],
        "cluster": clusters.take(pa.array(cluster)),
        "cluster_size": sizes[cluster],
    }
    return pa.table(columns, REMOVED)


def clusters_table(ids: pa.Array, datasets: pa.Array, members: Members, decision: Decision) -> pa.Table:
    """The clusters, of schema CLUSTERS, in their order, from their ids and the datasets' names by number."""
    lowest, median = _spread(members, decision)
    columns = {
        "cluster": ids,
        "size": np.diff(members.offsets),
        "members": _by_dataset(datasets, members),
        "kept": np.add.reduceat(decision.kept < 0, members.offsets[:-1], dtype=np.int64),
        "lowest_similarity": lowest,
        "median_similarity": median,
        "compare_limit_met": decision.limit_met,
    }
    return pa.table(columns, CLUSTERS)


def cluster_ids(first: pa.Table) -> pa.Array:
    """16 hexadecimal digits per cluster: `shingle_hash` of its first document's dataset, file and position, by NUL."""
    place = [first["dataset"], first["file"], first["position"].cast(pa.string())]
    nul = pa.scalar("\0", pa.large_string())
    joined = pc.binary_join_element_wise(*(part.cast(pa.large_string()) for part in place), nul)
    text = from_arrow(joined.combine_chunks())
    hashes = np.empty(len(text), np.uint64)
    hash_texts(text.data, text.offsets, hashes)
    return hexadecimal(pa.chunked_array([_binary(hashes.astype(">u8").view(np.uint8).reshape(-1, 8))]))


def hexadecimal(column: pa.ChunkedArray) -> pa.Array:
    """Fixed-size binary values, none of them null, as lower-case hexadecimal strings."""
    array = column.combine_chunks()
    width = array.type.byte_width
    values = np.frombuffer(array.buffers()[1], np.uint8, len(array) * width, array.offset * width)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.stack([digits[values >> 4], digits[values & 15]], axis=1)
    offsets = np.arange(len(array) + 1, dtype=np.int32) * 2 * width
    return pa.StringArray.from_buffers(len(array), pa.py_buffer(offsets), pa.py_buffer(text))


def _binary(values: np.ndarray) -> pa.FixedSizeBinaryArray:
    """Rows of uint8 as fixed-size binary."""
    kind = pa.binary(values.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _exact(decision: Decision, rows: np.ndarray) -> pa.Array:
    """The exact Jaccard of some removed documents and their kept ones; nulls unless verified so."""
    if decision.common is None or decision.union is None:
        return pa.nulls(len(rows), pa.float64())
    union = decision.union[rows]
    jaccard = decision.common[rows] / np.maximum(union, 1)
    return pa.array(jaccard, mask=union == 0)  # of texts without words


def _spread(members: Members, decision: Decision) -> tuple[pa.Array, pa.Array]:
    """Lowest and lower median similarity of each cluster's removed documents, exact where verified so."""
    removed = decision.removed
    similarity = decision.agreement[removed] / members.signatures.shape[1]
    if decision.common is not None:
        similarity = _exact(decision, removed).fill_null(0.0).to_numpy()
    cluster = np.searchsorted(members.offsets, removed, side="right") - 1
    ranked = similarity[np.lexsort((similarity, cluster))]
    counts = np.bincount(cluster, minlength=len(members.offsets) - 1)
    firsts = np.cumsum(counts) - counts
    none = pa.array(counts == 0)
    padded = np.append(ranked, 0.0)  # a cluster without removals may point behind the last value
    lowest = pc.if_else(none, None, pa.array(padded[firsts]))
    median = pc.if_else(none, None, pa.array(padded[firsts + np.maximum(counts - 1, 0) // 2]))
    return lowest, median


def _by_dataset(names: pa.Array, members: Members) -> pa.ListArray:
    """Per cluster the (dataset, documents) pairs, by rank."""
    cluster = np.repeat(np.arange(len(members.offsets) - 1), np.diff(members.offsets))
    order = np.lexsort((members.dataset, cluster))
    change = (np.diff(cluster[order], prepend=-1) != 0) | (np.diff(members.dataset[order], prepend=-1) != 0)
    firsts = np.flatnonzero(change)
    counts = np.diff(np.append(firsts, len(order)))
    lists = np.searchsorted(firsts, members.offsets).astype(np.int32)
    pairs = pa.StructArray.from_arrays(
        [names.take(pa.array(members.dataset[order[firsts]])), pa.array(counts)], ["dataset", "documents"]
    )
    return pa.ListArray.from_arrays(pa.array(lists), pairs)
