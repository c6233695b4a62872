"""A folder laid over a store: what is done there finds the store's work, and leaves it as it is."""

from collections.abc import Iterator
from dataclasses import replace

from zydaflow.provenance.commits import Record, Store
from zydaflow.stages.against import elsewhere
from zydaflow.storage import AnyPath


class Layer(Store):
    """Reads the records of the store below as well, and writes to its own folder alone.

    Files of records from below have absolute paths. Records of the stage `hidden` do not show through: its units count
    as not done.
    """

    def __init__(self, root: AnyPath, below: Store, hidden: str = "") -> None:
        super().__init__(root)
        self._below, self._hidden = below, hidden

    def __reduce__(self) -> tuple[type["Layer"], tuple[str, Store, str]]:  # type: ignore[override]
        return Layer, (str(self.root), self._below, self._hidden)

    def hiding(self, stage: str) -> "Layer":
        """The same folder over the same store, without that stage."""
        return Layer(self.root, self._below, stage)

    def find(self, stage: str, unit: str, fingerprint: str) -> Record | None:
        """The record of this layer, or of the store below."""
        own = super().find(stage, unit, fingerprint)
        if own is not None or stage == self._hidden:
            return own
        record = self._below.find(stage, unit, fingerprint)
        return record and self._shown(record)

    def records(self, stage: str = "*") -> Iterator[Record]:
        """Those of this layer, then those of the store below."""
        yield from super().records(stage)
        yield from (self._shown(record) for record in self._below.records(stage) if record.stage != self._hidden)

    def _shown(self, record: Record) -> Record:
        root = self._below.root
        return replace(record, artefacts={name: elsewhere(file, root) for name, file in record.artefacts.items()})
