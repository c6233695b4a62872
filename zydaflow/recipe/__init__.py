"""What a run is told: YAML → a validated model, and the fingerprints of its parts."""

from zydaflow.recipe.dedup import AcrossSpec, DedupSpec, ShingleSpec
from zydaflow.recipe.dump import dump_recipe
from zydaflow.recipe.filters import ColumnRule, CompositeSpec, Filter, RuleItem, RuleSetSpec, RuleSpec, UrlLists
from zydaflow.recipe.fingerprint import fingerprint
from zydaflow.recipe.keep import KeepKey, parse_keep
from zydaflow.recipe.load import load_recipe
from zydaflow.recipe.model import (
    AlarmSpec,
    ClassifierSpec,
    ColumnRef,
    DatasetSpec,
    LanguageSpec,
    LicensePolicy,
    OutputSpec,
    Recipe,
    ResourceSpec,
    TokenizerSpec,
    TrainPlan,
    TrainSpec,
)
from zydaflow.recipe.scalars import format_size, parse_size
from zydaflow.recipe.scorer import ScorerSpec

__all__ = [
    "AcrossSpec",
    "AlarmSpec",
    "ClassifierSpec",
    "ColumnRef",
    "ColumnRule",
    "CompositeSpec",
    "DatasetSpec",
    "DedupSpec",
    "Filter",
    "KeepKey",
    "LanguageSpec",
    "LicensePolicy",
    "OutputSpec",
    "Recipe",
    "ResourceSpec",
    "RuleItem",
    "RuleSetSpec",
    "RuleSpec",
    "ScorerSpec",
    "ShingleSpec",
    "TokenizerSpec",
    "TrainPlan",
    "TrainSpec",
    "UrlLists",
    "dump_recipe",
    "fingerprint",
    "format_size",
    "load_recipe",
    "parse_keep",
    "parse_size",
]
