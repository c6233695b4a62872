"""RedPajama-V2's signals (arXiv 2411.12372) of which words there are after normalisation, and how they repeat."""

import string
import unicodedata
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow.kernels.automaton import Automaton, Pattern, build, count_patterns
from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.decompose import decompose, decomposed_room, decomposition
from zydaflow.kernels.frequencies import count_distinct
from zydaflow.kernels.ngrams import COVERED, TOP_CHARACTERS, TOP_COUNT, repetition
from zydaflow.kernels.normalise import flag
from zydaflow.kernels.text import Text, from_arrow, to_arrow
from zydaflow.kernels.utf8 import count_characters
from zydaflow.kernels.words import Words, hash_words, split
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.rpv2 import NORMAL_WORDS, share, signal
from zydaflow.signals.signal import Measure

TOP, DUPLICATE = range(2, 5), range(5, 11)  # sizes of n-grams
LOREM_IPSUM = "lorem ipsum"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PIECE = 1 << 20  # bytes of a long text that are one Python string at a time


def normal_form(text: Text) -> Text:
    """The texts without ASCII punctuation, in lower case, with single spaces between words, in NFD."""
    flags = np.zeros(len(text), bool)
    flag(text.data, text.offsets, decomposition().contextual, flags)
    if flags.any():
        mask, array = pa.array(flags), to_arrow(text)
        folded = pa.array([_fold(document.as_buffer()) for document in array.filter(mask)], pa.large_string())
        text = from_arrow(pc.replace_with_mask(array, mask, folded))
    out, bounds = np.empty(decomposed_room(*text), np.uint8), np.zeros(len(text) + 1, np.int64)
    decompose(*text, flags, decomposition(), out, bounds)
    out.flags.writeable = bounds.flags.writeable = False
    return Text(out, bounds)


def _fold(document: pa.Buffer) -> bytes:
    """A UTF-8 document normalised but for its white space, a piece at a time: nothing looks beyond a space."""
    raw = memoryview(document).tobytes()
    folded, start = [], 0
    while start < len(raw):
        stop = raw.find(b" ", start + _PIECE)
        stop = len(raw) if stop < 0 else stop
        piece = raw[start:stop].decode().translate(_NO_PUNCTUATION).lower()
        folded.append(unicodedata.normalize("NFD", piece).encode())
        start = stop
    return b"".join(folded)


@cache
def _lorem_ipsum() -> Automaton:
    return build([Pattern(LOREM_IPSUM.encode(), 0)])


def _split(normal: Text) -> tuple[Words, np.ndarray, np.ndarray]:
    """The words of texts in normal form, their hashes and their characters."""
    words = split(normal)
    return words, *hash_words(*normal, words)


def _vocabulary(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words, hashes, _ = _split(normal_form(transformed))
    distinct, entropy = count_distinct(hashes, words.bounds)
    return {"rpv2.unique_word_fraction": ratio(distinct, np.diff(words.bounds)), "rpv2.unigram_entropy": entropy}


def _lorem(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    normal = normal_form(transformed)
    matches = count_patterns(*normal, _lorem_ipsum(), character_classes())[:, 0]
    return {"rpv2.lorem_ipsum_fraction": ratio(matches, count_characters(*normal))}


def _sums(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The sum of values[bounds[i]:bounds[i + 1]]: int64[n]."""
    return np.diff(np.concatenate(([0], np.cumsum(values)))[bounds])


def _ngrams(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    words, hashes, lengths = _split(normal_form(transformed))
    repeated, characters = repetition(hashes, lengths, words.bounds), _sums(lengths, words.bounds)
    columns = {}
    for number, size in enumerate(TOP):
        times, each = repeated.top[:, number, TOP_COUNT], repeated.top[:, number, TOP_CHARACTERS]
        columns[f"rpv2.top_ngram_{size}_fraction"] = ratio(np.where(times > 1, times * each, 0), characters)
    for number, size in enumerate(DUPLICATE):
        columns[f"rpv2.duplicate_ngram_{size}_fraction"] = ratio(repeated.duplicates[:, number, COVERED], characters)
    return columns


VOCABULARY = Measure(
    "rpv2.vocabulary",
    1,
    (
        share("unique_word_fraction", "words", f"Different {NORMAL_WORDS} over all of them."),
        signal(
            "unigram_entropy",
            "number",
            "nats",
            f"The entropy of the distribution of {NORMAL_WORDS}, by natural logarithms.",
            bins.WORD_LENGTHS,
        ),
    ),
    _vocabulary,
)

LOREM = Measure(
    "rpv2.lorem_ipsum",
    1,
    (
        signal(
            "lorem_ipsum_fraction",
            "fraction",
            "matches per character",
            f"Matches of {LOREM_IPSUM} over the characters of all {NORMAL_WORDS} with single spaces between them.",
            bins.SMALL_SHARES,
        ),
    ),
    _lorem,
)

NGRAMS = Measure(
    "rpv2.ngrams",
    1,
    (
        *(
            signal(
                f"top_ngram_{size}_fraction",
                "number",
                "of characters",
                f"Characters of the most frequent {size} consecutive {NORMAL_WORDS}, of several the first, as often as "
                "they stand, over those of all; 0 if they stand once. As they may overlap, it may exceed 1.",
                bins.SHARES,
            )
            for size in TOP
        ),
        *(
            share(
                f"duplicate_ngram_{size}_fraction",
                "characters",
                f"Characters of {NORMAL_WORDS} inside any {size} consecutive ones that stand more than once, each "
                "word counted once, over those of all.",
            )
            for size in DUPLICATE
        ),
    ),
    _ngrams,
)
