"""Personal data replaced by marks: e-mail addresses, then IP addresses, then telephone numbers in what is left.

It is as `re.sub` with the expressions of `kernels.personal`, one after the other. The marks are those of Dolma
(arXiv 2402.00159), which replaces the white space around a match along with it; here, all else stays.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.personal import ADDRESS, MAIL, PHONE, count_matches, fill_matches, replace
from zydaflow.kernels.pii import ROLES
from zydaflow.kernels.text import Text, from_arrow, to_arrow

MARKS = {MAIL: "|||EMAIL_ADDRESS|||", ADDRESS: "|||IP_ADDRESS|||", PHONE: "|||PHONE_NUMBER|||"}


def mask(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts with marks in place of personal data; the same array where there is none. A null stays null."""
    text = from_arrow(texts)
    spans, kinds = _spans(text)
    if len(spans) == 0:
        return texts
    sizes = np.array([len(mark) for mark in MARKS.values()])
    grown = sizes[kinds] - (spans[:, 1] - spans[:, 0])
    documents = np.searchsorted(text.offsets, spans[:, 0], side="right") - 1
    lengths = np.diff(text.offsets) + np.bincount(documents, grown, len(text)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    out = np.empty(offsets[-1], np.uint8)
    marks = np.frombuffer("".join(MARKS.values()).encode(), np.uint8)
    replace(text.data, text.offsets, spans, kinds, marks, np.concatenate(([0], np.cumsum(sizes))), out)
    masked = to_arrow(Text(out, offsets))
    return pc.if_else(texts.is_valid(), masked, None) if texts.null_count else masked


def _spans(text: Text) -> tuple[np.ndarray, np.ndarray]:
    """Where matches begin and end, int64[m, 2], in order, and of which kind each is."""
    starts, ends = text.offsets[:-1], text.offsets[1:]  # of what may still be searched
    spans, kinds = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    for kind in MARKS:
        found = np.empty((count_matches(text.data, starts, ends, kind, ROLES, character_classes()).sum(), 2), np.int64)
        fill_matches(text.data, starts, ends, kind, ROLES, character_classes(), found)
        starts, ends = _sorted(starts, found[:, 1]), _sorted(ends, found[:, 0])
        spans, kinds = np.concatenate((spans, found)), np.append(kinds, np.full(len(found), kind))
    order = np.argsort(spans[:, 0])
    return spans[order], kinds[order]


def _sorted(places: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The places together, in order, read only as all buffers are."""
    together = np.sort(np.concatenate((places, more)))
    together.flags.writeable = False
    return together
