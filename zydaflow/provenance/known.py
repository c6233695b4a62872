"""The records of a run far away, held by the process that asks for all of them."""

from collections.abc import Iterable, Iterator

from zydaflow.provenance.commits import Record, Store, parse_record
from zydaflow.storage import AnyPath, contents, files_below, is_local

RECORDS = "commits/"


def known(store: Store) -> Store:
    """The store as it is where its files are near, and `Known` where each look at one is a request."""
    return store if is_local(store.root) else Known(store.root)


class Known(Store):
    """Answers from what it fetched, many records at a time: when it was made, and since then by `learn`.

    A file that a record names is looked for once, when this is made; records without their files are withdrawn then.
    Workers that get this store ask the storage itself.
    """

    def __init__(self, root: AnyPath) -> None:
        super().__init__(root)
        self._records: dict[str, bytes] = {}  # as they are stored, by name: they are many
        there = files_below(self.root)
        self._fetch([name for name in there if name.startswith(RECORDS)])
        for record in list(self.records()):
            if any(there.get(file.path) != file.bytes for file in record.artefacts.values()):
                self.withdraw(record)

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        return Store, (str(self.root),)

    def learn(self) -> None:
        """Takes note of what others have committed or withdrawn."""
        names = {RECORDS + name for name in files_below(self.root / RECORDS)}
        self._records = {name: data for name, data in self._records.items() if name in names}
        self._fetch(sorted(names - self._records.keys()))

    def _fetch(self, names: Iterable[str]) -> None:
        self._records |= {name: data for name, data in contents(self.root, names) if parse_record(data)}

    def find(self, stage: str, unit: str, fingerprint: str) -> Record | None:
        """As in `Store`."""
        data = self._records.get(Record(stage, unit, fingerprint).name)
        record = data and parse_record(data)
        return record if record and (record.fingerprint, record.unit) == (fingerprint, unit) else None

    def records(self, stage: str = "*") -> Iterator[Record]:
        """As in `Store`."""
        for _, data in sorted(self._records.items()):
            record = parse_record(data)
            if record and stage in ("*", record.stage):
                yield record

    def commit(self, record: Record) -> Record:
        """As in `Store`."""
        made = super().commit(record)
        self._records[made.name] = made.to_json()
        return made

    def withdraw(self, record: Record) -> None:
        """As in `Store`."""
        super().withdraw(record)
        self._records.pop(record.name, None)
