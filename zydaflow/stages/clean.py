"""Clean: a finished run without what only resuming, changed recipes and extensions need."""

from zydaflow.provenance.commits import Store
from zydaflow.provenance.lock import owned
from zydaflow.storage import remove, remove_empty_folders


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
                    remove([store.path(artefact.path)])
        remove_empty_folders(store.path("work"))
    return freed
