"""Where a long text can be cut so that its pieces have the ids of the whole: it need not be in memory as a string."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

PIECE_BYTES = 8 << 20  # longer documents are cut, if they can be
LOOK = 1 << 12  # bytes in which a place is looked for at once, and on either side of it that it is tried out on

# A word ends before a space or a new line in all of these, and what follows does not depend on what was before.
NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer"}
PRE_TOKENIZERS = {
    *("ByteLevel", "Split", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit", "BertPreTokenizer"),
}
PLACE = re.compile(r"(?<=[^\W\d_])(?=[ \n])")  # a letter, and then a space or a new line


def can_cut(definition: dict) -> bool:
    """Whether a tokenizer.json is of a kind that takes every word for itself, from left to right.

    No more than that: what its regular expressions make of a place is to be tried out there.
    """
    before = list(_kinds(definition.get("normalizer"), "normalizers"))
    splits = list(_kinds(definition.get("pre_tokenizer"), "pretokenizers"))
    return (
        all(kind["type"] in NORMALIZERS for kind in before)
        and all(kind["type"] in PRE_TOKENIZERS and not kind.get("add_prefix_space") for kind in splits)
        and splits != []
        and not any(map(_across, definition["added_tokens"]))
    )


def _kinds(kind: dict | None, inner: str) -> Iterator[dict]:
    """The members of a sequence, or the one that there is."""
    if kind is None:
        return
    if kind["type"] == "Sequence":
        for member in kind[inner]:
            yield from _kinds(member, inner)
    else:
        yield kind


def _across(token: dict) -> bool:
    """Whether an added token may lie across a place."""
    return bool(PLACE.search(f"{token['content']} " if token.get("rstrip") else token["content"]))


def cut(text: memoryview, apart: Callable[[str, str], bool]) -> Iterator[memoryview]:
    """A text (UTF-8) in pieces of some `PIECE_BYTES`, or whole where `apart` does not hold around one of the places.

    `apart` tells whether two strings are split into the same words as the one that they make.
    """
    places = [0]
    while places[-1] < len(text):
        places.append(_place_after(text, places[-1] + PIECE_BYTES))
    if all(apart(*_around(text, place)) for place in places[1:-1]):
        yield from (text[low:high] for low, high in pairwise(places))
    else:
        yield text


def _place_after(text: memoryview, start: int) -> int:
    """The first place at byte `start` or later; the end of the text where there is none."""
    while start < len(text):
        if text[start] & 0xC0 == 0x80:  # inside a character
            start += 1
            continue
        window = bytes(text[start : start + LOOK]).decode(errors="ignore")
        if found := PLACE.search(window):
            return start + len(window[: found.start()].encode())
        start += LOOK - 8  # so that a place, two characters, is whole in one of the windows
    return len(text)


def _around(text: memoryview, place: int) -> tuple[str, str]:
    """What is before a place, and after it."""
    before, after = bytes(text[place - LOOK : place]), bytes(text[place : place + LOOK])
    return before.decode(errors="ignore"), after.decode(errors="ignore")
