"""What if: which documents of a finished run would stay under other ranks, keys or thresholds, by its signatures.

The stages that decide run again, in a folder of their own, over the files that the run left in its `work/`.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from zydaflow import dedup
from zydaflow.engine import explained, on_every_node, run_units, session
from zydaflow.errors import InputError, RecipeError
from zydaflow.filters import signals_needed
from zydaflow.provenance import waterfall
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.outcomes import DUPLICATES
from zydaflow.provenance.tables import ParquetFile
from zydaflow.recipe import DedupSpec, Recipe, load_recipe
from zydaflow.say import warn
from zydaflow.signals import SIGNALS
from zydaflow.stages import against, cluster, decide, evidence, keys, match
from zydaflow.stages import manifest as manifests
from zydaflow.stages.compiled import compile_once
from zydaflow.stages.finished import Finished, finished
from zydaflow.stages.manifest import Manifest

RAY = 20_000_000  # bytes of Ray's logs, in the folder for temporary files too: without room for them workers die

Json = dict[str, Any]


def whatif(
    out: str | Path,
    rank: Sequence[str] | None = None,
    threshold: float | None = None,
    keep: Sequence[str] | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
) -> Json:
    """What a run of the changed recipe with `verify: signature` would keep, without a look at its input:

        {"bands": [b, r], "verify": …, "comparisons_in_doubt": n, "losses": {LOSER: {KEEPER: {OUTCOME: N}}},
         "datasets": {NAME: {"now": N, "then": N, "removed": {OUTCOME: N}}}}

    N is {"documents": n, "bytes": n}; `now` and `then` are documents that stay, `verify` is the run's own. Bands that
    the recipe gives stay as they are, others follow from the threshold. In place of a joint pass, the passes are within
    and across. In doubt is a comparison of signatures that agree to within three standard errors of the threshold.

    Args:
        out: the folder, with its `work/`, of a run that is finished or was ended by an alarm or `until`; nothing in
            it changes.
        rank: the names of all datasets, the best first.
        threshold, keep: those of the recipe's `dedup`.
        output: where to write the removals, Parquet like evidence/removed.parquet, without tokens.
        workers: cores; default: all.

    Takes 8 bytes per band and document in the folder for temporary files (TMPDIR).
    Raises RecipeError for what cannot be asked, InputError for what the run does not hold.
    """
    run = finished(out, ("documents", "signatures", "signals", "text"), to_the_end=False)
    recipe = _changed(run.recipe, rank, threshold, keep)
    _check(run.recipe, recipe, output)
    manifest = _renumbered(run, recipe)
    with tempfile.TemporaryDirectory(prefix="zydaflow-whatif-") as folder:
        _check_room(folder, recipe, manifest)
        store = Store(folder)
        warn("starting Ray and compiling kernels")
        try:
            with explained(folder), session("local", workers):
                on_every_node(compile_once)
                _decide(store, recipe, manifest)
            target = Path(output or Path(folder) / "removed.parquet")
            with explained(str(target)):
                losses = _removals(store, recipe, manifest, target)
        except DamagedArtefact as damage:
            raise InputError(f"{damage}; `zydaflow verify {out}` tells what else is damaged") from damage
        in_doubt = sum(record.counts["doubtful"] for record in decide.records(store, recipe, manifest))
    return {
        "bands": match.split(_dedup(recipe)),
        "verify": _dedup(run.recipe).verify,
        "comparisons_in_doubt": in_doubt,
        "losses": losses,
        "datasets": _by_dataset(waterfall.load(out)["datasets"], manifest, losses),
    }


def _dedup(recipe: Recipe) -> DedupSpec:
    assert recipe.dedup is not None
    return recipe.dedup


def _changed(recipe: Recipe, rank: Sequence[str] | None, threshold: float | None, keep: Sequence[str] | None) -> Recipe:
    """The recipe whose result is asked for."""
    fields = recipe.model_dump(mode="json")
    if rank is not None:
        by_name = {dataset["name"]: dataset for dataset in fields["datasets"]}
        _check_rank(rank, list(by_name))
        fields["datasets"] = [by_name[name] for name in rank]
    changes = {"threshold": threshold, "keep": keep, "verify": "signature"}
    fields["dedup"] |= {key: value for key, value in changes.items() if value is not None}
    if _dedup(recipe).passes == ("joint",):
        fields["dedup"]["passes"] = ["within", "across"]
    return load_recipe(fields)


def _check_rank(rank: Sequence[str], names: Sequence[str]) -> None:
    wrong = {
        "unknown": [name for name in rank if name not in names],
        "missing": [name for name in names if name not in rank],
        "named twice": [name for name, count in Counter(rank).items() if count > 1],
    }
    told = [f"{', '.join(found)} {'is' if len(found) == 1 else 'are'} {what}" for what, found in wrong.items() if found]
    if told:
        raise RecipeError(f"--rank: {'; '.join(told)}; give all datasets, the best first: {','.join(names)}")


def _check(before: Recipe, recipe: Recipe, output: str | Path | None) -> None:
    """Raises RecipeError for keys that the run did not measure, and for an output that cannot be written."""
    keys.check(recipe)
    named = {key.name for key in _dedup(recipe).keep_keys if key.name in SIGNALS}
    for dataset in (dataset for dataset in before.datasets if dataset.dedup):
        stored = signals_needed(before, dataset)
        lost = sorted(named.difference(stored))
        if lost:
            there = ", ".join([*keys.OF_EVERY_DOCUMENT, *dataset.carried, *stored])
            raise RecipeError(f"--keep: {', '.join(lost)}: not measured on {dataset.name}; there are {there}")
    lines = list(against.missing(recipe))
    if lines:
        raise InputError("\n".join(lines))
    if output and (Path(output).exists() or not Path(output).absolute().parent.is_dir()):
        what = "is there already" if Path(output).exists() else "is in no folder"
        raise RecipeError(f"--output: {output} {what}; give another")


def _check_room(folder: str, recipe: Recipe, manifest: Manifest) -> None:
    spec, free = _dedup(recipe), shutil.disk_usage(folder).free
    need = RAY + 8 * manifest.numbers * (match.split(spec)[0] + len(spec.exact))
    if need > free:
        raise InputError(
            f"{folder}: {megabytes(free)} are free, and Ray's logs and band keys may need {megabytes(need)}; "
            "set TMPDIR to a folder on a larger disk"
        )


def _renumbered(run: Finished, recipe: Recipe) -> Manifest:
    """The run's documents in the recipe's order of datasets, with absolute paths of their files."""
    parts, first, root = [], 0, run.store.root
    for rank, dataset in enumerate(recipe.datasets):
        for part in run.manifest.of(run.manifest.datasets.index(dataset.name)):
            parts.append(replace(manifests.elsewhere(part, root), dataset=rank, first=first))
            first += part.rows
    return replace(run.manifest, datasets=tuple(dataset.name for dataset in recipe.datasets), parts=tuple(parts))


def _decide(store: Store, recipe: Recipe, manifest: Manifest) -> None:
    """The stages from keys to decisions, as in `pipeline`."""
    path, memory = manifests.save(store, manifest), recipe.resources.memory_per_task
    stages = {
        "keys": keys.units,
        "bands": match.band_units,
        "match": match.match_units,
        "cluster": cluster.units,
        "decide": decide.units,
    }
    for name, units in stages.items():
        run_units(store, name, units(store, recipe, manifest, path), memory)


def _removals(store: Store, recipe: Recipe, manifest: Manifest, target: Path) -> Json:
    """Writes them, and counts them by dataset, dataset of the kept copy, and outcome."""
    with ExitStack() as outputs:
        file = ParquetFile(outputs, Store(target.absolute().parent), "", dedup.REMOVED)
        losses = evidence.removals(store, recipe, manifest, None, file)
        file.finish(target.name)
    return losses


def _by_dataset(statistics: Json, manifest: Manifest, losses: Json) -> Json:
    """What stays of each dataset, and what does not, from what deduplication came to in the run."""
    found: Json = {}
    for name in manifest.datasets:
        outcomes, lost = statistics[name]["outcomes"], losses.get(name, {}).values()
        removed = {outcome: _sum(to[outcome] for to in lost if outcome in to) for outcome in DUPLICATES}
        stay = _sum(outcomes[outcome] for outcome in ("pending", "written"))
        whole, gone = _sum([stay, *(outcomes[outcome] for outcome in DUPLICATES)]), _sum(removed.values())
        then = {unit: whole[unit] - gone[unit] for unit in whole}
        found[name] = {"now": stay, "then": then, "removed": removed}
    return found


def _sum(counts: Iterable[Json]) -> dict[str, int]:
    added = list(counts)
    return {unit: sum(count[unit] for count in added) for unit in ("documents", "bytes")}
