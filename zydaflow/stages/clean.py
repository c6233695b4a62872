"""Clean: a finished run without what only resuming, changed recipes and extensions need."""

import contextlib

from zydaflow.provenance.commits import Store
from zydaflow.provenance.lock import owned


def clean(store: Store) -> int:
    """Removes the files in `work/` that commit records name, and returns their bytes; files of others stay.

    The records stay too: they say what was there. Raises RunError while a run owns the folder.
    """
    freed = 0
    with owned(store.root):
        for record in store.records():
            for artefact in record.artefacts.values():
                if artefact.path.startswith("work/") and store.intact(artefact):
                    freed += artefact.bytes
                    store.path(artefact.path).unlink()
        for folder in sorted([store.path("work"), *store.path("work").rglob("*")], reverse=True):
            with contextlib.suppress(OSError):  # no folder, or not empty
                folder.rmdir()
    return freed
