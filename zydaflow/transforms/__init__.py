"""Steps that change the text before it is measured further and kept, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from zydaflow.errors import RecipeError
from zydaflow.suggest import nearest
from zydaflow.transforms import c4, mask_pii, refinedweb, zyda


@dataclass(frozen=True)
class Transform:
    """A named step. `version` is raised whenever the result for any text changes."""

    version: int
    function: Callable[[pa.LargeStringArray], pa.LargeStringArray]


TRANSFORMS = {
    "c4": Transform(1, c4.clean),
    "mask_pii": Transform(1, mask_pii.mask),
    "refinedweb": Transform(1, refinedweb.correct_lines),
    "zyda": Transform(1, zyda.collapse_runs),
}


def apply(names: Sequence[str], texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts after the named transforms, in order; the same array, not a copy, where they change nothing.

    A null stays null. Raises RecipeError for an unknown name.
    """
    for name in names:
        texts = _transform(name).function(texts)
    return texts


def fingerprint(names: Sequence[str]) -> list[Any]:
    """What the transformed text depends on besides the text: each transform's name and version.

    Raises RecipeError for an unknown name.
    """
    return [[name, _transform(name).version] for name in names]


def _transform(name: str) -> Transform:
    if name not in TRANSFORMS:
        raise RecipeError(f"transform: there is no transform {name!r}{nearest(name, TRANSFORMS)}")
    return TRANSFORMS[name]
