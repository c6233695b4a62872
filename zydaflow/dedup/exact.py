"""What makes two documents equal before anything is estimated: their normal form, or the value of a column."""

import re
from collections.abc import Iterable
from itertools import pairwise
from urllib.parse import SplitResult, quote, urlsplit

import numpy as np
import pyarrow as pa
import xxhash

from zydaflow.dedup.normalise import prepare, tables
from zydaflow.kernels.normalise import normalise_texts, room_for
from zydaflow.kernels.text import Text, to_arrow

NOTHING = bytes(16)  # in place of a hash, where there is no value

_PORTS = {"http": 80, "https": 443}
_SAFE = "!$&'()*+,;=:@/?-._~%"  # what RFC 3986 lets stand in a path or a query, and % of what stays encoded
_PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")


def normal_forms(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The normal form (`normalise.py`, as for shingles of characters) of each text; empty for one without words."""
    text = prepare(texts)
    data, bounds = np.empty(room_for(text.offsets), np.uint8), np.zeros(len(text) + 1, np.int64)
    normalise_texts(text.data, text.offsets, tables().characters, data, bounds)
    return to_arrow(Text(data[: bounds[-1]], bounds))


def hashes(values: Iterable[bytes | memoryview | None]) -> pa.FixedSizeBinaryArray:
    """xxh3-128 of each value as binary(16), big-endian; NOTHING for None and for an empty one."""
    digest = xxhash.xxh3_128_digest
    joined = [digest(value) if value else NOTHING for value in values]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(joined), [None, pa.py_buffer(b"".join(joined))])


def text_hashes(texts: pa.LargeStringArray) -> pa.FixedSizeBinaryArray:
    """`hashes` of the normal forms of n texts."""
    forms = normal_forms(texts)
    data = memoryview(forms.buffers()[2] or b"")
    bounds = np.frombuffer(forms.buffers()[1], np.int64, len(forms) + 1).tolist()
    return hashes(data[start:stop] for start, stop in pairwise(bounds))


def value_hashes(values: Iterable[str | None]) -> pa.FixedSizeBinaryArray:
    """`hashes` of the values of a column, URLs among them in their normal form."""
    return hashes(None if value is None else url_form(value).encode() for value in values)


def url_form(value: str) -> str:
    """The normal form of a http or https URL (RFC 3986, 6.2.2 and 6.2.3), without its fragment; else the value itself.

    Scheme and host in lower case, no port that the scheme implies, no empty path, no dot segments, percent-encodings in
    upper case and only where needed. Different schemes, `www.` and parameters keep documents apart.
    """
    stripped = value.strip()
    if stripped[:4].lower() != "http":
        return value
    try:
        url = urlsplit(stripped)
        port = url.port
    except ValueError:
        return value
    if url.scheme not in _PORTS or not url.hostname:
        return value
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    place = host if port in (None, _PORTS[url.scheme]) else f"{host}:{port}"
    user = f"{url.netloc.rpartition('@')[0]}@" if "@" in url.netloc else ""
    path = _without_dots(_percent(url.path)) or "/"
    return SplitResult(url.scheme, user + place, path, _percent(url.query), "").geturl()


def _percent(part: str) -> str:
    """Percent-encodes what must be, in upper case, and nothing that need not be."""
    return quote(_PERCENT.sub(_code, part), safe=_SAFE)


def _code(found: re.Match[str]) -> str:
    """A percent-encoding as it should be; of a % alone, if it begins none."""
    if found[1] is None:
        return "%25"
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()


def _without_dots(path: str) -> str:
    """The path without its segments `.` and `..` (RFC 3986, 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
