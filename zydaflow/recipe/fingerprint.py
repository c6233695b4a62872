"""Fingerprints: two things have the same one exactly if they are the same JSON values."""

import json
from typing import Any

import xxhash


def fingerprint(*parts: Any) -> str:
    """32 hex characters: xxh3-128 over the parts as canonical JSON (keys sorted, no spaces, floats by `repr`).

    Tuples count as lists. Raises TypeError for what JSON cannot hold, keys that are not text included,
    and ValueError for NaN and infinities.
    """
    _check_keys(parts)
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return xxhash.xxh3_128_hexdigest(text.encode())


def _check_keys(value: Any) -> None:
    """`json.dumps` would write the key 1 as "1", and two different mappings would meet in one fingerprint."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{key!r} is not text: a fingerprint takes mappings with text keys only")
            _check_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_keys(item)
