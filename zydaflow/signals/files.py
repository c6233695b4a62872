"""Files that signals depend on."""

from functools import lru_cache

import xxhash

from zydaflow.storage import is_local, path_of


def digest(path: str) -> str:
    """A hash of the file's content."""
    file = path_of(path)
    return _digest(path, file.stat().st_mtime_ns if is_local(file) else 0)


@lru_cache(maxsize=64)
def _digest(path: str, modified: int) -> str:
    hashed = xxhash.xxh3_128()
    with path_of(path).open("rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()
