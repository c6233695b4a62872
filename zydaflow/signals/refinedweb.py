"""RefinedWeb's signal (arXiv 2306.01116, appendix G.2)."""

import numpy as np

from zydaflow.kernels.refinedweb import correct, refinedweb_tables
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.ratio import ratio
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal


def _corrected(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    out = np.empty(raw.offsets[-1] - raw.offsets[0], np.uint8)
    words, flagged = correct(*raw, refinedweb_tables(), out, np.empty_like(raw.offsets)).T
    return {"refinedweb.flagged_word_fraction": ratio(flagged, words)}


CORRECTED = Measure(
    "refinedweb.corrected",
    1,
    (
        Signal(
            "refinedweb.flagged_word_fraction",
            "fraction",
            "of words",
            "Words, as str.split() splits them, in lines of the original text that the transform refinedweb takes out "
            "or edits, over all.",
            "RefinedWeb, arXiv 2306.01116",
            bins.SHARES,
        ),
    ),
    _corrected,
)
