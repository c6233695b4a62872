"""The story of a run: its stages in order.

    plan → measure → match → decide → tokenize → account

The recipe's scorers come at the beginning of measure.

Each stage lists the units of work that have no commit record yet, and the engine does those. So the same call starts a
run, resumes it, and after a change of the recipe does what depends on the change.
"""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial

from upath import UPath

from zydaflow.engine import Nodes, Pool, begin_progress, explained, on_every_node, preflight, run_units, session
from zydaflow.errors import InputError, RecipeError, RunError
from zydaflow.provenance.commits import DamagedArtefact, Record, Store
from zydaflow.provenance.known import known
from zydaflow.provenance.lock import owned
from zydaflow.provenance.run_file import RECIPE, read_run
from zydaflow.recipe import Recipe
from zydaflow.resuming import started_by
from zydaflow.say import warn
from zydaflow.signals.scores import PREFIX
from zydaflow.stages import (
    account,
    cluster,
    count,
    current,
    decide,
    evidence,
    gather,
    inputs,
    keys,
    match,
    prepare,
    score,
    select,
    tokenize,
    train,
)
from zydaflow.stages import manifest as manifests
from zydaflow.stages.compiled import asked_for, compile_once
from zydaflow.stages.extend import extension, refuse_another
from zydaflow.stages.job import Job
from zydaflow.stages.parts import parts_of
from zydaflow.stages.plan import Plan, check, check_output, is_finished, plan
from zydaflow.stages.preflight import facts
from zydaflow.stages.unit import Timing, Unit
from zydaflow.storage import AnyPath, path_of
from zydaflow.suggest import nearest


class Pipeline:
    """One run of one recipe, stage by stage. Needs a Ray session around it."""

    def __init__(self, planned: Plan, store: Store, nodes: Nodes | None = None) -> None:
        self.plan, self.recipe, self.store, self._nodes = planned, planned.recipe, store, nodes
        self.timings: dict[str, Timing] = {}
        self.records: list[Record] = []
        self.manifest: manifests.Manifest | None = None

    def measure(self) -> None:
        """Raw records → scores, signals, verdicts, kept text, signatures."""
        self._score()
        self._do("measure", prepare.units(self.store, self.recipe, self.plan.shards), len(self.plan.shards))
        jobs = [Job(self.recipe, shard) for shard in self.plan.shards]
        prepared = [parts_of(self.store, job) for job in jobs]
        self.records += [record for parts in prepared for part in parts for record in part.records.values()]
        self.records += [record for parts in prepared for part in parts for record in part.scores.values()]
        score.warn_unscored(self.records)
        account.check_unreadable(self.store, self.records)
        account.warn_unprocessed(self.store, self.records)
        self.records += inputs.save(self.store, self.plan)
        self.manifest = manifests.build(jobs, prepared)
        self.path = manifests.save(self.store, self.manifest)
        self.records += current.numbered(self.store, self.manifest)
        self._stop_at_alarms()

    def _score(self) -> None:
        """The recipe's own functions, one after the other, each in a pool of its own."""
        for name, spec in self.recipe.scorers.items():
            shards = score.of(self.recipe, self.plan.shards, name)
            pool = Pool(f"scorers.{name}", spec.actors, spec.memory, spec.gpus)
            self._do(PREFIX + name, score.units(self.store, self.recipe, shards, name), len(shards), pool)

    def match(self) -> None:
        """Signatures → candidate pairs."""
        if self.recipe.dedup:
            self._do("keys", keys.units(self.store, self.recipe, self._kept, self.path))
            keys.warn_of_dates(self.store, self.recipe, self._kept)
            todo = match.match_units(self.store, self.recipe, self._kept, self.path)
            if todo:
                self._do("bands", match.band_units(self.store, self.recipe, self._kept, self.path))
            self._do("match", todo, len(match.match_names(self.recipe, self._kept)))
        self.records += current.matched(self.store, self.recipe, self._kept)
        self._stop_at_alarms()

    def decide(self) -> None:
        """Candidates → removals, and the output shards that the others go to."""
        if self.recipe.dedup:
            self._do("cluster", cluster.units(self.store, self.recipe, self._kept, self.path))
            if self.recipe.dedup.verify == "exact":
                self._do("gather", gather.units(self.store, self.recipe, self._kept, self.path))
            self._do("decide", decide.units(self.store, self.recipe, self._kept, self.path))
            decide.warn_of_unlike(self.store, self.recipe, self._kept)
        self._do("select", select.units(self.store, self.recipe, self._kept, self.path))
        self.records += current.decided(self.store, self.recipe, self._kept)
        self._stop_at_alarms()

    def tokenize(self) -> None:
        """Documents that stay → the Arrow shards of the corpus; of those that do not, the tokens are counted."""
        self._do("train", train.units(self.store, self.recipe, self._kept, self.path))
        tokenizer = train.tokenizer_of(self.store, self.recipe, self._kept)
        tokenize.withdraw_stale(self.store, self.recipe, self._kept, tokenizer)
        self._do("tokenize", tokenize.units(self.store, self.recipe, self._kept, self.path, tokenizer))
        self._do("count", count.units(self.store, self.recipe, self._kept, self.path, tokenizer))
        tokenize.write_folders(self.store, self.recipe, self._kept, tokenizer)
        self.records += current.tokenized(self.store, self.recipe, self._kept)

    def account(self) -> None:
        """Commit records → evidence, statistics, card, report, of what is done; fails if a document has leaked."""
        records = list(self.records)
        if self.recipe.dedup and "select" in self.timings:
            self._do("evidence", evidence.units(self.store, self.recipe, self._kept, self.path))
            records += current.shown(self.store, self.recipe, self._kept)
        account.account(self.store, self.plan, records, self.timings, finished="tokenize" in self.timings)

    def _stop_at_alarms(self) -> None:
        if self.recipe.alarms.stop:
            self.account()

    @property
    def _kept(self) -> manifests.Manifest:
        if self.manifest is None:
            raise RunError("measure comes before every other stage")
        return self.manifest

    def _do(self, stage: str, units: list[Unit], of: int | None = None, pool: Pool | None = None) -> None:
        reused = max(0, (of or len(units)) - len(units))
        memory = self.recipe.resources.memory_per_task
        self.timings[stage] = run_units(self.store, stage, units, memory, reused, self._nodes, pool)
        self.store.learn()


Story = Callable[[Pipeline], None]

STAGES: dict[str, Story] = {
    "measure": Pipeline.measure,
    "match": Pipeline.match,
    "decide": Pipeline.decide,
    "tokenize": Pipeline.tokenize,
}


def stages_until(last: str | None) -> Story:
    """All stages in order, up to one of them or to the end, and then the account of what is there.

    Raises RecipeError for a stage that there is not.
    """
    if last is not None and last not in STAGES:
        raise RecipeError(f"until: there is no stage {last!r}{nearest(last, STAGES)}")

    def story(pipeline: Pipeline) -> None:
        for name, stage in STAGES.items():
            stage(pipeline)
            if name == last:
                break
        pipeline.account()

    return story


def run(recipe: Recipe, address: str = "local", until: str | None = None, workers: int | None = None) -> UPath:
    """Does what is missing of a run, up to the stage `until` or to the end, and returns its folder.

    `address` and `workers` are those of `zydaflow run --help`. Raises RecipeError, InputError, RunError; after the
    last the same call resumes.
    """
    with started_by(_call("run", recipe, address=address, until=until, workers=workers)):
        return perform(stages_until(until), plan(recipe), address, workers)


def _call(function: str, recipe: Recipe, *before: str, **after: str | int | tuple[str, ...] | None) -> str:
    """That does the same once more, from anywhere."""
    words = [*map(repr, before), f"zydaflow.load_recipe({os.path.join(recipe.output.path, RECIPE)!r})"]
    return f"zydaflow.{function}({', '.join([*words, *(f'{key}={value!r}' for key, value in after.items())])})"


def extend(
    out: AnyPath,
    recipe: Recipe,
    address: str = "local",
    workers: int | None = None,
    drop: Sequence[str] = (),
) -> UPath:
    """Makes the finished run in `out` one of this recipe, over old and new datasets, and returns its folder.

    Raw text of datasets that are in it already is not read, and need not be there any more. Those of `drop` go. The
    result is that of `run` over everything. Raises what `run` does, and what `stages.extend.extension` does.
    """
    output = recipe.output.model_copy(update={"path": str(path_of(out))})
    extended = recipe.model_copy(update={"output": output})
    with started_by(_call("extend", extended, output.path, address=address, workers=workers, drop=tuple(drop))):
        return perform(stages_until(None), extension(extended, drop), address, workers, extends=True)


def perform(
    story: Story, planned: Plan, address: str = "local", workers: int | None = None, extends: bool = False
) -> UPath:
    """Checks, starts or joins Ray, and tells the story: a function that calls stages of the Pipeline in order.

    Returns the folder of the run, at once if it is finished, and raises what `run` does. A finished run with another
    name stays as it is, unless this one `extends` it.
    """
    started = time.perf_counter()
    store = Store(planned.recipe.output.path)
    if is_finished(planned):
        return store.root
    for warning in check(planned.recipe):
        warn(f"warning: {warning}")
    check_output(planned)
    if not extends:
        refuse_another(planned.recipe)
    before = read_run(store.root)
    if before and before["finished"]:
        warn(f"{store.root} holds a finished run of another recipe or input: what stands of it is reused")
    warn("starting Ray and compiling kernels")
    with explained(planned.recipe.output.path), owned(store.root):
        begin_progress(store)
        with session(address, workers):
            account.begin(store, planned)
            nodes = _preflight(planned.recipe, str(store.root))
            on_every_node(compile_once, *asked_for(planned.recipe))
            _tell(story, planned, store, nodes, time.perf_counter() - started)
    return store.root


def _preflight(recipe: Recipe, out: str) -> Nodes:
    return preflight(partial(facts, recipe, out), out, recipe.resources.memory_per_task)


def _tell(story: Story, planned: Plan, store: Store, nodes: Nodes | None, startup: float) -> None:
    """The whole story; after a damaged artefact was withdrawn, again from the beginning, which makes that one anew."""
    mended: dict[str, str] = {}  # damaged files, and where they were made
    while True:
        pipeline = Pipeline(planned, known(store), nodes)
        pipeline.timings["start-up"] = Timing(wall=startup)
        try:
            story(pipeline)
            return
        except Exception as error:  # who misses a file that was there before may fail in any way
            damages = [error] if isinstance(error, DamagedArtefact) else list(store.gone())
            if not damages:
                raise
            for damage in damages:
                _check_mendable(store, damage, mended)
            mended |= store.withdraw_artefacts(*(damage.path for damage in damages))


def _check_mendable(store: Store, damage: DamagedArtefact, mended: dict[str, str]) -> None:
    if os.path.isabs(damage.path):
        raise InputError(f"{damage}: this index is damaged; copy or make it again") from damage
    if damage.path in mended:
        before, now = mended[damage.path], store.withdraw_artefacts(damage.path)[damage.path]
        raise RunError(
            f"{damage}, again, after it was made anew: first on {before}, then on {now}; look at their disks and memory"
        ) from damage
