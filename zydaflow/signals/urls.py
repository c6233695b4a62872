"""Signals of a document's URL: its domain, and how it stands to block lists.

URLs and entries of lists are compared in lower case. A URL's address is the URL without its scheme, user, fragment, a
leading `www.` and slashes at its end. Letters and digits are a-z, 0-9 and all characters outside ASCII.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.errors import InputError, RecipeError
from zydaflow.kernels import listed
from zydaflow.kernels.automaton import Automaton, Pattern, count_patterns
from zydaflow.kernels.automaton import build as automaton
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.text import from_arrow
from zydaflow.signals import bins
from zydaflow.signals.files import digest
from zydaflow.signals.resources import URL_LISTS, Resources
from zydaflow.signals.signal import Family, Signal
from zydaflow.storage import path_of
from zydaflow.suggest import nearest

VERSION = 1  # raised whenever a value changes
DOMAIN = "url.domain"
HOST_BYTES = 253  # of a host, at most (RFC 1035, 2.3.4)

# Each matches in one way only, for which RE2 has its fast ways.
_SCHEME = r"^(?:[a-z][a-z0-9+.\-]*:)?//"
_AUTHORITY = r"^(?P<found>[^/?#]*)"  # RFC 3986, 3.2
_HOST = r"^(?P<found>\[[0-9a-f:.]+\]|[^:\[\]\s]+)(?::[0-9]+)?$"
_WWW = r"^www\.([^.]+\.)"  # not of www.net
_OTHER = r"[^a-z0-9\x{80}-\x{10FFFF}]+"


def count(name: str) -> str:
    """The signal that a list of `url_lists` gives."""
    return f"url.list_counts.{name}"


def measure_urls(names: Sequence[str], urls: pa.Array, resources: Resources) -> dict[str, pa.Array]:
    """The named signals (of `NAMES`) of n URLs, which are strings or null. Raises InputError for unusable lists."""
    if not names:
        return {}
    urls = _lower(urls)
    hosts = _hosts(urls)
    unknown = urls.is_null().to_numpy(zero_copy_only=False)
    found = {DOMAIN: pc.replace_substring_regex(hosts, _WWW, r"\1").cast(pa.string())}
    for name, files in zip(URL_LISTS, resources.url_lists, strict=True):
        if count(name) in names:
            found[count(name)] = pa.array(_counts(name, files, urls, hosts), mask=unknown)
    return {name: found[name] for name in names}


def _counts(name: str, files: tuple[str, ...], urls: pa.Array, hosts: pa.Array) -> np.ndarray:
    if not files:
        return np.zeros(len(urls), np.int64)
    if name == "domains":
        hosts = hosts.fill_null("")  # a null may lie over what it took the place of
        return listed.count_domains(*from_arrow(hosts), _table(name, files, _digests(name, files)))
    if name == "urls":
        return listed.count_whole(*from_arrow(_addresses(urls)), _table(name, files, _digests(name, files)))
    if name == "substrings":
        compact = from_arrow(_compact(_addresses(urls)))
        return count_patterns(*compact, _patterns(files, _digests(name, files)), character_classes())[:, 0]
    return listed.count_words(*from_arrow(_addresses(urls)), _table(name, files, _digests(name, files)))


def _lower(texts: pa.Array) -> pa.Array:
    """In lower case, without white space around them; null for what is empty."""
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(texts.cast(pa.large_string())))
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _hosts(urls: pa.Array) -> pa.Array:
    """The host of each URL in lower case, without port and final dot; null where there is none."""
    authority = pc.replace_substring_regex(_first(_without_scheme(urls), _AUTHORITY), r"^.*@", "")
    hosts = pc.ascii_rtrim(_first(authority, _HOST), ".")
    length = pc.binary_length(hosts)
    usable = pc.and_(pc.greater(length, 0), pc.less_equal(length, HOST_BYTES))
    return pc.if_else(usable, hosts, pa.scalar(None, hosts.type))


def _first(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.struct_field(pc.extract_regex(texts, pattern), "found")


def _without_scheme(urls: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(urls, _SCHEME, "")


def _addresses(urls: pa.Array) -> pa.Array:
    ends = pc.replace_substring_regex(_without_scheme(urls), r"(?:#.*|/+)+$", "")
    return pc.replace_substring_regex(ends, r"^(?:[^/?#@]*@)?(?:www\.)?", "")


def _compact(texts: pa.Array) -> pa.Array:
    """Their letters and digits alone."""
    return pc.replace_substring_regex(texts, _OTHER, "")


def _entries(name: str, files: tuple[str, ...]) -> pa.Array:
    """The entries of a list, in the form in which they are compared. Raises InputError for files that hold none."""
    pieces = [_lines(f"url_lists.{name}", path) for path in files]
    entries = pa.concat_arrays(pieces)
    if name == "domains":
        entries = _hosts(pc.replace_substring_regex(entries, r"^\*?\.", ""))
        entries = pc.replace_substring_regex(entries, _WWW, r"\1")  # who lists it means the site
    elif name == "urls":
        entries = _addresses(entries)
    elif name == "substrings":
        entries = _compact(entries)
    else:
        split = entries.filter(pc.match_substring_regex(entries, _OTHER))
        if len(split):
            raise InputError(f"url_lists.{name}: {split[0]} is not one word of letters and digits; see substrings")
    entries = entries.filter(pc.greater(pc.binary_length(entries), 0))
    if not len(entries):
        raise InputError(f"url_lists.{name}: {', '.join(files)} has no entry")
    return entries


def _lines(key: str, path: str) -> pa.Array:
    """The lines of a file that are neither blank nor begin with #. Raises InputError."""
    try:
        text = pa.array([path_of(path).read_text(encoding="utf-8-sig")], pa.large_string())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{key}: {path}: cannot be read: {error}") from error
    lines = _lower(pc.split_pattern(text, "\n").flatten())
    return lines.filter(pc.invert(pc.starts_with(lines, "#")))


def _digests(name: str, files: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(map(digest, files))
    except OSError as error:
        raise InputError(f"url_lists.{name}: {error.filename}: cannot be read: {error.strerror}") from error


@lru_cache(maxsize=8)
def _table(name: str, files: tuple[str, ...], digests: tuple[str, ...]) -> listed.Listed:
    entries = from_arrow(_entries(name, files))
    return listed.build(entries.data, entries.offsets)


@lru_cache(maxsize=2)
def _patterns(files: tuple[str, ...], digests: tuple[str, ...]) -> Automaton:
    entries = dict.fromkeys(_entries("substrings", files).to_pylist())
    return automaton([Pattern(entry.encode(), 0) for entry in entries])


def fingerprint(names: Sequence[str], resources: Resources) -> dict[str, Any]:
    """What the named signals depend on besides the URL; empty where none of them is of URLs."""
    used = [(name, files) for name, files in zip(URL_LISTS, resources.url_lists, strict=True) if count(name) in names]
    if not used and DOMAIN not in names:
        return {}
    return {"urls": {"version": VERSION, "lists": {name: _digests(name, files) for name, files in used}}}


def _count(name: str, specification: str) -> Signal:
    return Signal(count(name), "integer", "entries", f"{specification}; null without a URL.", SOURCE, bins.COUNTS)


SOURCE = "after RefinedWeb, arXiv 2306.01116, G.1"
SIGNALS = (
    Signal(
        DOMAIN,
        "text",
        "host",
        "The URL's host in lower case, without user, port, final dot and a leading www.; null where there is none.",
        "RFC 3986",
        bins.NONE,
    ),
    _count("domains", "Entries of url_lists.domains that are the URL's host or a domain above it"),
    _count("urls", "1 if the URL's address is an entry of url_lists.urls, else 0"),
    _count("words", "Entries of url_lists.words that are runs of letters and digits in the URL's address"),
    _count("substrings", "Matches of entries of url_lists.substrings in the letters and digits of the URL's address"),
    _count("soft_words", "Entries of url_lists.soft_words that are runs of letters and digits in the URL's address"),
)
NAMES = tuple(signal.name for signal in SIGNALS)


def _signal(name: str) -> Signal:
    if name not in NAMES:
        raise RecipeError(f"there is no signal {name!r}{nearest(name, NAMES)}")
    return SIGNALS[NAMES.index(name)]


URLS = Family("url.", _signal, names=NAMES)
