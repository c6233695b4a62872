"""All signals by name, and the one call that measures those asked for."""

import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from zydaflow.errors import RecipeError
from zydaflow.kernels.text import from_arrow
from zydaflow.signals import (
    c4,
    classifier,
    code,
    code_comments,
    dolma_lines,
    fineweb,
    gopher_lines,
    gopher_ngrams,
    gopher_words,
    language,
    language_share,
    metadata,
    pii,
    refinedweb,
    rpv2,
    rpv2_lists,
    rpv2_words,
    scores,
    urls,
    words,
    zyda,
    zyda_matches,
)
from zydaflow.signals.resources import Resources
from zydaflow.signals.signal import Family, Measure, Signals
from zydaflow.suggest import nearest

# To add a signal: a file with its measure, and the measure's name here.
MEASURES: tuple[Measure, ...] = (
    words.WORDS,
    zyda.CHARACTERS,
    zyda.TRANSFORMED,
    zyda_matches.MATCHES,
    zyda.PII,
    language.LANGUAGE,
    gopher_lines.MARKED,
    gopher_lines.DUPLICATES,
    gopher_lines.PARAGRAPHS,
    dolma_lines.MARKED,
    dolma_lines.DUPLICATES,
    c4.LINES,
    c4.BAD_WORDS,
    fineweb.LINES,
    *fineweb.NEWLINES,
    refinedweb.CORRECTED,
    *gopher_words.WORDS,
    *gopher_ngrams.NGRAMS,
    code.CHARACTERS,
    code.LINE_LENGTHS,
    code.MARKERS,
    code.DATA,
    *code_comments.MEASURES,
    *pii.MEASURES,
    rpv2.PIECES,
    rpv2.LINES,
    rpv2_words.VOCABULARY,
    rpv2_words.LOREM,
    rpv2_words.NGRAMS,
    rpv2_lists.STOP_WORDS,
    rpv2_lists.BAD_WORDS,
)
FAMILIES: tuple[Family, ...] = (
    metadata.NUMBERS,
    metadata.TEXTS,
    urls.URLS,
    classifier.CLASSIFIER,
    language_share.LANGUAGE_SHARE,
    scores.SCORES,
)
SIGNALS = Signals((signal for measure in MEASURES for signal in measure.signals), FAMILIES)


def no_signal(name: str) -> str:
    """What to tell of a name that no signal has."""
    return f"there is no signal {name!r}{nearest(name, SIGNALS, 'those that `zydaflow signals` lists')}"


def measure(
    names: Sequence[str],
    raw: pa.LargeStringArray,
    transformed: pa.LargeStringArray,
    resources: Resources,
    given: Mapping[str, pa.Array] = MappingProxyType({}),
) -> pa.RecordBatch:
    """The named signals of n documents, as columns in that order; only what they need and is not `given` is computed.

    Integers are int64, fractions and numbers float64 and never NaN, labels strings. A null text measures as an empty
    one. Only what a model has nothing to decide by is null. Raises RecipeError for an unknown name and InputError for a
    word list or model that cannot be used.
    """
    columns: dict[str, Any] = dict(given)
    for needed in measures_of(names):
        columns |= needed.function(from_arrow(raw), from_arrow(transformed), resources)
    schema = pa.schema([(name, SIGNALS[name].type) for name in names])
    return pa.RecordBatch.from_arrays([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def check_models(names: Sequence[str], resources: Resources) -> None:
    """Loads the models that signals of families need.

    Raises RecipeError for a classifier that the recipe does not explain and a label that a model does not know,
    InputError for a model that cannot be used.
    """
    classifier.check(names, resources)
    language_share.check(names, resources)


def measures_of(names: Sequence[str]) -> list[Measure]:
    """The measures that provide the named signals. Raises RecipeError for an unknown name."""
    for name in names:
        if name not in SIGNALS:
            raise RecipeError(no_signal(name))
    families = [(name, SIGNALS.family(name)) for name in names]
    return [
        *(measure for measure in MEASURES if any(signal.name in names for signal in measure.signals)),
        *(family.measure(name) for name, family in families if family and family.measure),
    ]


def fingerprint(names: Sequence[str], resources: Resources) -> dict[str, Any]:
    """What the columns of `measure` depend on besides the text, JSON-able: equal if and only if their values are.

    The names, the versions of their measures, the version of Unicode, and the contents of word lists and models.
    Raises as `measure` does.
    """
    needed = measures_of(names)
    return {
        "signals": list(names),
        "measures": {measure.name: measure.version for measure in needed},
        "unidata": unicodedata.unidata_version,
        "inputs": {measure.name: measure.inputs(resources) for measure in needed},
        **urls.fingerprint(names, resources),
    }
