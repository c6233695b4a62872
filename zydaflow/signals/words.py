"""The number of words."""

import numpy as np

from zydaflow.kernels.characters import character_classes, count_words
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal


def _words(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    return {"n_words": count_words(*transformed, character_classes())}


WORDS = Measure(
    "words",
    1,
    (
        Signal(
            "n_words",
            "integer",
            "words",
            "Words of the transformed text after NFC, lower case and deletion of punctuation, split at white space.",
            "zydaflow: the words that shingles are made of, in scripts with spaces between words",
            bins.SIZES,
        ),
    ),
    _words,
)
