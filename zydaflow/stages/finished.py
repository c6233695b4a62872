"""A finished run, for questions about it that read its `work/` and write nothing there."""

from collections.abc import Sequence
from typing import NamedTuple

from zydaflow.errors import InputError, RecipeError
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.provenance.run_file import RECIPE, RUN, STATISTICS, read_run
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.stages.manifest import Manifest
from zydaflow.storage import AnyPath

FILES = {
    "documents": "documents' places",
    "signatures": "signatures",
    "signals": "signals",
    "text": "kept text",
}
"""What a part consists of, as people call it."""


class Finished(NamedTuple):
    """A run that came to its end."""

    store: Store
    recipe: Recipe
    manifest: Manifest


def finished(out: AnyPath, needs: Sequence[str], to_the_end: bool = True) -> Finished:
    """The run in a folder, whose parts have their files of these kinds (of `FILES`).

    Unless it must have come `to_the_end`, its statistics are enough: a run has them since an alarm or --until ended it.
    Raises InputError for what is no finished run, or lacks any of them; RecipeError for one without deduplication.
    """
    store, run = Store(out), read_run(out)
    if run is None:
        raise InputError(f"{out}: no {RUN} that can be read, so this is no folder of a run")
    if not run["finished"] and (to_the_end or not store.path(STATISTICS).exists()):
        raise InputError(f"{out}: the run has not come to its end; `zydaflow run` goes on with it")
    recipe = load_recipe(store.path(RECIPE))
    if recipe.dedup is None:
        raise RecipeError(f"{out}: its recipe says dedup: null, so it holds no signatures to compare")
    manifest = manifest_of(store)
    if manifest is None:
        raise lacking(store, ["list of documents", *(FILES[kind] for kind in needs)])
    files = ((kind, getattr(part, kind)) for part in manifest.parts for kind in needs)
    lost = {FILES[kind] for kind, file in files if file is not None and not store.intact(file)}
    if lost:
        raise lacking(store, sorted(lost))
    return Finished(store, recipe, manifest)


def manifest_of(store: Store) -> Manifest | None:
    """The numbered documents of a finished run; None where they are gone, damaged, or of another version."""
    try:
        (record,) = store.records("manifest")
        return Manifest.from_json(store.map(record.artefacts["manifest"]).to_pybytes())
    except (ValueError, KeyError, DamagedArtefact):
        return None


def lacking(store: Store, what: Sequence[str]) -> InputError:
    """Says what is missing of a run, and how to come by it."""
    return InputError(
        f"{store.root} lacks its {', '.join(what)}, wholly or in part: work/ was removed (`zydaflow run --clean`), or "
        "is of another version; run the recipe without --clean in another folder"
    )
