"""A recipe to start from, drafted from the files that one has: `zydaflow init`."""

from zydaflow.draft.recipe import draft_recipe, init
from zydaflow.draft.survey import Finding, inspect_paths

__all__ = ["Finding", "draft_recipe", "init", "inspect_paths"]
