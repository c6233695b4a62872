"""Runs a pipeline in this process, unit after unit, in any order: what is to be the same wherever it runs."""

import hashlib
import random
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from zydaflow import pipeline, what_if
from zydaflow.engine import Nodes, Pool
from zydaflow.pipeline import Pipeline, stages_until
from zydaflow.provenance.commits import Store
from zydaflow.recipe import load_recipe
from zydaflow.stages import account
from zydaflow.stages.extend import extension
from zydaflow.stages.plan import Plan, is_finished, plan
from zydaflow.stages.unit import Timing, Unit


class Serial:
    """Takes the place of the engine. `done` has the names of the units that were done, by stage."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, order: int = 0) -> None:
        self.done: dict[str, list[str]] = {}
        self._rng = random.Random(order)
        monkeypatch.setattr(pipeline, "run_units", self.run_units)
        monkeypatch.setattr(what_if, "run_units", self.run_units)
        monkeypatch.setattr(what_if, "session", lambda address, workers: nullcontext())
        monkeypatch.setattr(what_if, "on_every_node", lambda *_: None)

    def run_units(
        self,
        store: Store,
        stage: str,
        units: list[Unit],
        memory: int,
        reused: int = 0,
        nodes: Nodes | None = None,
        pool: Pool | None = None,
    ) -> Timing:
        units = list(units)
        self._rng.shuffle(units)
        for unit in units:
            unit.function(store, *unit.arguments)
            self.done.setdefault(stage, []).append(unit.name)
        return Timing(units=len(units))

    def run(self, recipe: dict[str, Any], until: str | None = None) -> Path:
        """Does what is missing, and says what it did in `done`."""
        return self._tell(plan(load_recipe(recipe)), until)

    def extend(self, recipe: dict[str, Any], drop: Iterable[str] = ()) -> Path:
        """Adds datasets to the run in the recipe's folder, lets some go, and says what it did in `done`."""
        planned = extension(load_recipe(recipe), sorted(drop))
        return Path(planned.recipe.output.path) if is_finished(planned) else self._tell(planned)

    def _tell(self, planned: Plan, until: str | None = None) -> Path:
        self.done = {}
        store = Store(planned.recipe.output.path)
        store.root.mkdir(parents=True, exist_ok=True)
        account.begin(store, planned)
        running = Pipeline(planned, store)
        stages_until(until)(running)
        return store.root


def results(out: Path) -> dict[str, str]:
    """SHA-256 of every file that must be the same for the same recipe and input: corpus, evidence, statistics."""
    paths = [*out.glob("corpus/**/*"), *out.glob("evidence/*"), out / "statistics.json"]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths if p.is_file()}
