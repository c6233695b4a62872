"""Documents that are nothing but signatures: what matching and clustering take, without text."""

from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from zydaflow.provenance.commits import Artefact, Record, Store
from zydaflow.provenance.tables import ArrowFile
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.stages import cluster, match
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest, Part
from zydaflow.stages.sketching import signature_schema
from zydaflow.stages.unit import Unit

NOTHING = Artefact("none", 0, "", 0)


class Signed:
    """Datasets a, b … of signatures, uint32 (n, 128) each, in a folder; bands are 32 × 4."""

    def __init__(self, folder: Path, *datasets: np.ndarray) -> None:
        self.store, self.names = Store(folder), tuple("abcdefgh"[: len(datasets)])
        parts, first = [], 0
        for rank, values in enumerate(datasets):
            parts.append(self._part(rank, first, values))
            first += len(values)
        self.manifest = Manifest(self.names, tuple(parts))
        self.path = manifests.save(self.store, self.manifest)

    def _part(self, rank: int, first: int, values: np.ndarray) -> Part:
        schema = signature_schema(values.shape[1])
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
        with ExitStack() as outputs:
            file = ArrowFile(outputs, self.store, "work/signatures", schema)
            file.write(pa.RecordBatch.from_arrays([pa.array(np.full(len(values), 600)), vectors], schema=schema))
            made = file.finish(f"work/signatures/{rank}.arrow")
        name = self.names[rank]
        return Part(rank, name, first, len(values), name, NOTHING, NOTHING, NOTHING, made)

    def recipe(self, memory_per_task: str, **dedup: object) -> Recipe:
        """A recipe of these datasets."""
        out = str(self.store.root)
        return load_recipe(
            {
                "name": "signed",
                "datasets": [{"name": name, "path": out} for name in self.names],
                "dedup": {"bands": 32, "rows": 4, **dedup},
                "output": {"path": out},
                "resources": {"memory_per_task": memory_per_task},
            }
        )

    def lay_out(self, recipe: Recipe) -> None:
        """Lays out the band keys."""
        self._do(match.band_units(self.store, recipe, self.manifest, self.path))

    def match(self, recipe: Recipe) -> list[Record]:
        """Matches the keys. Returns the records."""
        self._do(match.match_units(self.store, recipe, self.manifest, self.path))
        return list(self.store.records("match"))

    def cluster(self, recipe: Recipe) -> list[list[int]]:
        """Clusters what is matched. Returns the clusters, by first document."""
        self._do(cluster.units(self.store, recipe, self.manifest, self.path))
        record = cluster.record_of(self.store, recipe, self.manifest)
        assert record is not None
        found = []
        for partition in range(record.counts["partitions"]):
            numbers, offsets = cluster.members_of(self.store, record, partition)
            found += [numbers[a:b].tolist() for a, b in pairwise(offsets)]
        return found

    def _do(self, units: list[Unit]) -> None:
        for unit in units:
            unit.function(self.store, *unit.arguments)
