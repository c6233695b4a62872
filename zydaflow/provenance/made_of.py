"""What a run was made of, as the report and the dataset card say it."""

import platform
import unicodedata
from collections.abc import Iterator
from importlib.metadata import version

from zydaflow import dedup
from zydaflow.recipe import (
    ColumnRef,
    ColumnRule,
    CompositeSpec,
    DatasetSpec,
    DedupSpec,
    Filter,
    Recipe,
    RuleItem,
    RuleSetSpec,
    RuleSpec,
    TokenizerSpec,
    TrainSpec,
)
from zydaflow.recipe.filters import Bounds, title
from zydaflow.version import __version__

LIBRARIES = (
    "datasets", "datasketch", "fastokens", "fasttext-community", "numba", "numpy", "orjson", "pyarrow", "ray",
    "tokenizers", "xxhash",
)  # fmt: skip


def versions() -> dict[str, str]:
    """zydaflow, Python, and the libraries and tables that a result depends on, by name."""
    own = {"zydaflow": __version__, "python": platform.python_version(), "Unicode": unicodedata.unidata_version}
    return own | {name: version(name) for name in LIBRARIES}


def licence(dataset: DatasetSpec) -> str:
    """The dataset's licence, or where each document's is from."""
    if isinstance(dataset.license, ColumnRef):
        return f"by document (column {dataset.license.column})"
    return dataset.license or "not stated"


def filters(recipe: Recipe, dataset: DatasetSpec) -> str:
    """The dataset's rule sets and rules, in the recipe's words."""
    return ", ".join(_filter(item) for item in recipe.filters_of(dataset)) or "none"


def _filter(item: Filter | RuleItem) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, RuleSetSpec):
        without = f" without {' and '.join(item.without)}" if item.without else ""
        return last_part(item.set) + without + (f" over {item.words} words" if item.words else "")
    if isinstance(item, CompositeSpec):
        return f"{item.name} ({item.test} of {', '.join(map(_filter, item.parts))})"
    tests = [f"{test} {', '.join(of)}" for test in ("allow", "deny") if (of := getattr(item, test, None)) is not None]
    own = [f"{label} {_bounds(of) or 'none'}" for label, of in item.by_language.items()]
    more = [*([f"({', '.join(own)})"] if own else []), *(["(not null)"] if item.nulls == "remove" else [])]
    return " ".join([title(item), *([_bounds(item)] if _bounds(item) else []), *tests, *more])


def _bounds(of: Bounds | RuleSpec | ColumnRule) -> str:
    return " ".join(f"{test} {bound:g}" for test, bound in (("min", of.min), ("max", of.max)) if bound is not None)


def language(recipe: Recipe) -> str:
    """How languages were chosen, in a sentence; empty where they were not."""
    spec = recipe.language
    if spec is None or spec.keep is None:
        return ""
    return f"Documents in {', '.join(spec.keep)} stay, by {last_part(spec.model)}, from a score of {spec.min_score:g}."


def classifiers(recipe: Recipe) -> str:
    """What the recipe's classifiers are, in sentences; empty where it has none."""
    return " ".join(
        f"classifier.{name} is the probability of {spec.label} by {last_part(spec.model)}."
        for name, spec in recipe.classifiers.items()
    )


def deduplication(recipe: Recipe) -> str:
    """How duplicates were found and which of them went, in sentences."""
    if recipe.dedup is None:
        return "Duplicates were not looked for."
    return " ".join([_found(recipe.dedup), *choices(recipe, recipe.dedup)])


def _found(spec: DedupSpec) -> str:
    given = spec.bands is not None and spec.rows is not None
    bands, rows = (spec.bands, spec.rows) if given else dedup.choose(spec.threshold, spec.permutations, spec.verify)
    passes = f"{' and '.join(spec.passes) or 'no'} {'pass' if len(spec.passes) == 1 else 'passes'}"
    found = (
        f"MinHash over shingles of {spec.shingle.size} {spec.shingle.unit}s, {spec.permutations} permutations in "
        f"{bands} bands of {rows} rows, {passes}. "
    )
    if spec.verify == "none":
        return found + "Of every connected component the best-ranked document stays, unverified."
    by = "the shingle sets" if spec.verify == "exact" else "the signatures"
    return found + (
        f"A document goes if one that stays comes before it, by rank first, shares a band with it, and is at least "
        f"{spec.threshold:g} similar by {by}."
    )


def choices(recipe: Recipe, spec: DedupSpec) -> Iterator[str]:
    """What else decided which documents went."""
    if spec.exact:
        yield f"It goes too if one that stays and comes before it has the same {' or '.join(spec.exact)}."
    if spec.keep:
        yield f"Among documents of one dataset the order is by {', '.join(spec.keep)}."
    if spec.across:
        yield f"For documents of other datasets only those of {', '.join(spec.across.remove_from)} went."
    if frozen := [dataset.name for dataset in recipe.datasets if dataset.frozen]:
        yield f"Nothing went from {', '.join(frozen)}, and the others lost to it, whatever their rank."
    if apart := [dataset.name for dataset in recipe.datasets if not dataset.dedup]:
        yield f"Not compared with anything: {', '.join(apart)}."
    if spec.against:
        yield f"What is in the index {' or '.join(map(last_part, spec.against))} went too."


def tokenizer(recipe: Recipe) -> str:
    """Which tokenizer made the tokens."""
    spec = recipe.tokenizer
    if spec is None:
        return "none: the corpus is text"
    if isinstance(spec, TrainSpec):
        return f"byte-level BPE of {spec.train.vocab_size:,} tokens, trained on a sample of the kept text"
    return last_part(spec.path if isinstance(spec, TokenizerSpec) else spec)


def last_part(path: str) -> str:
    """A local path without the folders that it lies in, which say something of a machine; other names whole."""
    return path.rstrip("/").rsplit("/", 1)[-1] if path.startswith("/") else path
