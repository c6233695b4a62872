"""What the evidence tells of the clusters: how large they are, in which datasets, and what the largest are made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.tables import read_table
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest
from zydaflow.stages.measuring import measured_schema

LARGEST = 10  # clusters that are shown
CLASSES = 64  # of sizes: from one power of two to the next
EXCERPTS = pa.ipc.IpcReadOptions(included_fields=[measured_schema(()).get_field_index("excerpt")])

Json = dict[str, Any]


class ClusterStatistics:
    """Collects, partition by partition in the order of the clusters; `to_json` gives

        {"sizes": {SIZE: n}, "by_dataset": {NAME: {SIZE: n}}, "most": {NAME: {"documents": n, "cluster": ID}},
         "largest": [{…, "samples": [SAMPLE, …]}, …]}

    where clusters are counted by the largest power of two that their size reaches, for a dataset by that of the
    documents that they hold of it, and `most` is the cluster that holds most of a dataset's documents. The largest have
    the columns of dedup.CLUSTERS. A sample is {"similarity": x, "outcome": OUTCOME, "removed": PLACE, "kept": PLACE}.
    """

    def __init__(self, datasets: Sequence[str]) -> None:
        self._datasets = pa.array(datasets, pa.string())
        self._sizes = np.zeros(CLASSES, np.int64)
        self._by_dataset = np.zeros((len(datasets), CLASSES), np.int64)
        self._most = [{"documents": 0, "cluster": ""} for _ in datasets]
        self._largest: list[tuple[Json, Record]] = []

    def add(self, record: Record, clusters: pa.Table) -> None:
        """Adds the clusters (dedup.CLUSTERS) of a partition that is decided."""
        if not len(clusters):
            return
        sizes = clusters["size"].to_numpy()
        self._sizes += np.bincount(_class(sizes), minlength=CLASSES)
        self._count_by_dataset(clusters)
        first = np.argsort(-sizes, kind="stable")[:LARGEST]
        found = [(row, record) for row in clusters.take(pa.array(first)).to_pylist()]
        self._largest = sorted(self._largest + found, key=lambda item: -item[0]["size"])[:LARGEST]

    def _count_by_dataset(self, clusters: pa.Table) -> None:
        members = clusters["members"].combine_chunks()
        held = members.flatten()
        known = pc.index_in(held.field("dataset"), self._datasets)
        columns = (known, held.field("documents"), pc.list_parent_indices(members))
        datasets, documents, owners = (column.filter(known.is_valid()).to_numpy() for column in columns)
        cells = np.bincount(datasets * CLASSES + _class(documents), minlength=self._by_dataset.size)
        self._by_dataset += cells.reshape(self._by_dataset.shape)
        for dataset in np.unique(datasets):
            rows = np.flatnonzero(datasets == dataset)
            most = rows[np.argmax(documents[rows])]
            if documents[most] > self._most[dataset]["documents"]:
                cluster = clusters["cluster"][int(owners[most])].as_py()
                self._most[dataset] = {"documents": int(documents[most]), "cluster": cluster}

    def to_json(self, store: Store, manifest: Manifest) -> Json:
        """Everything so far, with samples of the largest clusters, as strict JSON."""
        names = self._datasets.to_pylist()
        return {
            "sizes": _by_size(self._sizes),
            "by_dataset": {name: _by_size(of) for name, of in zip(names, self._by_dataset, strict=True) if of.any()},
            "most": {name: most for name, most in zip(names, self._most, strict=True) if most["documents"]},
            "largest": [_with_samples(store, manifest, row, record) for row, record in self._largest],
        }


def _class(sizes: np.ndarray) -> np.ndarray:
    """k for sizes of 2^k … 2^(k + 1) - 1."""
    return np.frexp(sizes.astype(np.float64))[1].astype(np.int64) - 1


def _by_size(counts: np.ndarray) -> dict[str, int]:
    return {str(2**k): int(count) for k, count in enumerate(counts) if count}


def _with_samples(store: Store, manifest: Manifest, row: Json, record: Record) -> Json:
    return row | {"samples": _samples(store, manifest, row["cluster"], record)}


def _samples(store: Store, manifest: Manifest, cluster: str, record: Record) -> list[Json]:
    """The least similar removal of a cluster, the median one and the most similar; equal ones by number."""
    removed = read_table(store, record.artefacts["removed"])
    rows = np.flatnonzero(pc.equal(removed["cluster"], cluster).to_numpy())
    if not len(rows):
        return []
    similarity = pc.coalesce(removed["jaccard"], removed["jaccard_estimate"]).to_numpy()[rows]
    order = np.argsort(similarity, kind="stable")
    chosen = rows[order[np.unique([0, (len(order) - 1) // 2, len(order) - 1])]]
    pairs = removed.take(pa.array(chosen)).to_pylist()
    excerpts = _excerpts(store, manifest, [pair[side] for pair in pairs for side in ("document", "kept")])
    return [
        {
            "similarity": pair["jaccard_estimate"] if pair["jaccard"] is None else pair["jaccard"],
            "outcome": pair["outcome"],
            "removed": _place(pair, "") | {"excerpt": excerpts[pair["document"]]},
            "kept": _place(pair, "kept_") | {"excerpt": excerpts[pair["kept"]]},
        }
        for pair in pairs
    ]


def _place(pair: Json, prefix: str) -> Json:
    return {key: pair[f"{prefix}{key}"] for key in ("dataset", "file", "position", "id")}


def _excerpts(store: Store, manifest: Manifest, documents: list[int]) -> dict[int, str | None]:
    """How each document begins, by its number; nothing is known of the texts of an index."""
    found: dict[int, str | None] = dict.fromkeys(documents)
    numbers = [number for number in found if number < manifest.documents]
    rows = manifests.documents_of(store, manifest, np.array(numbers, np.int64))["signal_row"].to_pylist()
    for number, row in zip(numbers, rows, strict=True):
        (part,) = manifest.overlapping(number, number + 1)
        found[number] = pa.ipc.open_file(store.map(part.signals), options=EXCERPTS).read_all()["excerpt"][row].as_py()
    return found
