"""The same as the package computes, slow and obvious, and texts to compare the two on."""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

PUNCTUATION = string.punctuation + "".join(chr(c) for c in [*range(0x2018, 0x2020), *range(0x2010, 0x2016)])

SPACELESS = re.compile(  # Thai to Myanmar, Khmer, Tai; Han, kana, bopomofo, Yi; the same of half width; beyond U+FFFF
    "[\u0e00-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303b"
    "\u3040-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua9e0-\ua9ff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f"
    "\U000116d0-\U000116ff\U0001aff0-\U0001b16f\U00020000-\U0003fffd]"
)

SPECIAL = (
    "aB z9_.,-'\"\n\t\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b\x00"  # separators of words, and what is not one
    "\u2018\u2019\u201c\u201f\u2010\u2014\u2015\u2016\u2017\u2026"  # deleted, and their neighbours, which are not
    "\u03a3\u03c3\u03c2\u0391\u0130\u0131\u00df\u1e9e\u212a\u212b\u023a\u0295"  # lowered in ways of their own
    "\u00e9e\u0301\u0323\u0308\u0345\u0f71\u09c7\u09be\u0b95\u0bcd\u1100\u1161\u11a8\uac00\ufb01\uf900"  # joined by NFC
    "漢字ไทย\u0e33\u0e48か\u3099ｶﾞー한글\u3002\U00020000\ufe00😀\U00010400\U0001f468\u200d\U000e0020"
)
TEXTS = st.one_of(
    st.text(st.sampled_from(SPECIAL), max_size=40),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.lists(st.sampled_from(["to", "be", "Or", "not,", "über", "ΟΔΟΣ", "—", "Ⱥ東京"]), max_size=40).map(" ".join),
)


def words(text: str, unit: str) -> list[str]:
    """The words of the normal form for shingles of this unit."""
    normal = "".join(c for c in unicodedata.normalize("NFC", text).lower() if c not in PUNCTUATION)
    return (SPACELESS.sub(r" \g<0> ", normal) if unit == "word" else normal).split()


def shingles(text: str, unit: str, size: int) -> set[str]:
    """The set of shingles as strings."""
    units = words(text, unit) if unit == "word" else list(" ".join(words(text, unit)))
    if not units:
        return set()
    joint = " " if unit == "word" else ""
    return {joint.join(units[i : i + size]) for i in range(max(1, len(units) - size + 1))}


def jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b)


def decide(
    order: Sequence[int],
    dataset: Sequence[int],
    bands: Callable[[int], list],
    alike: Callable[[int, int], bool],
    equal: Callable[[int, int], bool],
    may: Callable[[str, int], bool],
    limit: int,
) -> tuple[dict[int, tuple[int, str]], int]:
    """Who goes for whom and how, and how often the limit was met: the sentence of the decision, document by document.

    `may` answers for a dataset: is it an "index", may it lose "at all", "to_others", "within", "across"?
    """
    staying: list[int] = []
    gone: dict[int, tuple[int, str]] = {}
    limit_met = 0
    for document in order:
        own = dataset[document]
        justified = {"exact": [], "within": [], "across": []}
        if may("at all", own):
            justified["exact"] = [
                other
                for other in staying
                if equal(other, document)
                and (dataset[other] == own or may("to_others", own) or may("index", dataset[other]))
            ]
        passes = {
            "within": may("within", own),
            "across": may("across", own) or (may("at all", own) and any(may("index", dataset[o]) for o in order)),
        }
        for name in (name for name, runs in passes.items() if runs and not justified["exact"]):
            compared = set()
            for band, value in enumerate(bands(document)):
                bucket = [
                    other
                    for other in staying
                    if bands(other)[band] == value and (dataset[other] == own) == (name == "within")
                ]
                limit_met += len(bucket) > limit
                compared.update(bucket[:limit])
            if name == "across" and not may("across", own):
                compared = {other for other in compared if may("index", dataset[other])}
            justified[name] = [other for other in staying if other in compared and alike(other, document)]
        for how, partners in justified.items():
            if partners and document not in gone:
                gone[document] = (partners[0], how)
        if document not in gone:
            staying.append(document)
    return gone, limit_met


def never(i: int, j: int) -> bool:
    """That two documents are equal, where nothing makes them so."""
    return False


def passes(names: Sequence[str]) -> Callable[[str, int], bool]:
    """What datasets may lose where all may lose by these passes."""
    return lambda what, dataset: what in ("at all", "to_others", *names)


def matches(
    order: Sequence[int],
    dataset: Sequence[int],
    columns: Sequence[tuple[Callable[[int], object], Callable[[int, int], bool]]],
    gone: dict[int, tuple[int, str]],
    first: int,
) -> set[tuple[int, int]]:
    """(document, dataset) of every verified pair whose first is among the `first` of its dataset in a bucket.

    A column is the key of a document (None for none) and how two documents that share it are verified.
    """
    pairs = {(i, kept) for i, (kept, _) in gone.items()}
    for at, later in enumerate(order):
        for key, verified in columns:
            counts: dict[int, int] = {}
            for earlier in order[:at]:
                if key(later) is not None and key(earlier) == key(later):
                    counts[dataset[earlier]] = counts.get(dataset[earlier], 0) + 1
                    if counts[dataset[earlier]] <= first and verified(earlier, later):
                        pairs.add((earlier, later))
    return {(i, int(dataset[j])) for i, j in pairs} | {(j, int(dataset[i])) for i, j in pairs}


def components(edges: Sequence[tuple[int, int]], n: int) -> list[list[int]]:
    """The connected components of at least two nodes, by their first."""
    neighbours: dict[int, set[int]] = {}
    for a, b in edges:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    found, seen = [], set()
    for node in range(n):
        if node in seen or node not in neighbours:
            continue
        reached, waiting = set(), [node]
        while waiting:
            here = waiting.pop()
            if here not in reached:
                reached.add(here)
                waiting.extend(neighbours[here])
        seen |= reached
        if len(reached) > 1:
            found.append(sorted(reached))
    return found
