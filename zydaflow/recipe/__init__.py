"""What a run is told: YAML → a validated model, and the fingerprints of its parts."""

from zydaflow.recipe.dedup import AcrossSpec, DedupSpec, ShingleSpec
from zydaflow.recipe.dump import dump_recipe
from zydaflow.recipe.fingerprint import fingerprint
from zydaflow.recipe.keep import KeepKey, parse_keep
from zydaflow.recipe.load import load_recipe
from zydaflow.recipe.model import (
    AlarmSpec,
    ColumnRef,
    DatasetSpec,
    Filter,
    LanguageSpec,
    LicensePolicy,
    OutputSpec,
    Recipe,
    ResourceSpec,
    RuleSpec,
    TokenizerSpec,
    TrainPlan,
    TrainSpec,
)
from zydaflow.recipe.scalars import format_size, parse_size
from zydaflow.recipe.scorer import ScorerSpec

__all__ = [
    "AcrossSpec",
    "AlarmSpec",
    "ColumnRef",
    "DatasetSpec",
    "DedupSpec",
    "Filter",
    "KeepKey",
    "LanguageSpec",
    "LicensePolicy",
    "OutputSpec",
    "Recipe",
    "ResourceSpec",
    "RuleSpec",
    "ScorerSpec",
    "ShingleSpec",
    "TokenizerSpec",
    "TrainPlan",
    "TrainSpec",
    "dump_recipe",
    "fingerprint",
    "format_size",
    "load_recipe",
    "parse_keep",
    "parse_size",
]
