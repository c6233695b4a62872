"""Personal data: how many e-mail addresses, IP addresses and telephone numbers a text has."""

from collections.abc import Callable

import numpy as np

from zydaflow.kernels.characters import character_classes
from zydaflow.kernels.dolma_pii import AROUND, count_dolma_pii
from zydaflow.kernels.personal import ADDRESS, MAIL, PHONE, count_matches
from zydaflow.kernels.pii import ROLES
from zydaflow.kernels.text import Text
from zydaflow.signals import bins
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Measure, Signal

SPECIFICATIONS = {
    "email": "E-mail addresses: \\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}\\b.",
    "ip": "IPv4 addresses: four numbers from 0 to 255 without leading zeros between dots, apart from other words "
    "and from dots with digits.",
    "phone": "Telephone numbers: + and 8 to 15 digits with up to two of space . - ( ) between them, or North American "
    "ones of 3, 3 and 4 digits that space, . or - separate, after 1 or not, the first three in brackets or not.",
}
KINDS = {"email": MAIL, "ip": ADDRESS, "phone": PHONE}


def _function(name: str) -> Callable[[Text, Text, Resources], dict[str, np.ndarray]]:
    def function(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
        data, offsets = transformed
        return {
            f"pii.{name}_count": count_matches(data, offsets[:-1], offsets[1:], KINDS[name], ROLES, character_classes())
        }

    return function


def _measure(name: str) -> Measure:
    signal = Signal(f"pii.{name}_count", "integer", "matches", SPECIFICATIONS[name], "zydaflow", bins.COUNTS)
    return Measure(f"pii.{name}", 1, (signal,), _function(name))


def _dolma(raw: Text, transformed: Text, resources: Resources) -> dict[str, np.ndarray]:
    return {"dolma.pii_count": count_dolma_pii(*transformed, ROLES, AROUND, character_classes())}


DOLMA = Measure(
    "dolma.pii",
    1,
    (
        Signal(
            "dolma.pii_count",
            "integer",
            "matches",
            "E-mail addresses before white space, ten digits as telephone numbers after white space, and dotted quads, "
            "in each line; 0 for a text of more than 10,000 question marks.",
            "Dolma, arXiv 2402.00159",
            bins.COUNTS,
        ),
    ),
    _dolma,
)
MEASURES = (*(_measure(name) for name in KINDS), DOLMA)
