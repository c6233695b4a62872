"""`zydaflow run` and `zydaflow extend`."""

import argparse
from typing import TYPE_CHECKING

from zydaflow.arguments import add_clean, add_ray, add_recipe, add_recipe_of_run, load, names
from zydaflow.errors import RecipeError
from zydaflow.say import say, warn

if TYPE_CHECKING:
    from zydaflow.commands import Commands
    from zydaflow.stages.plan import Plan

STAGES = ("measure", "match", "decide", "tokenize")


def add_commands(commands: "Commands") -> None:
    """Adds `run` and `extend`."""
    run = commands.add_parser("run", help="run a recipe, or what is missing of it")
    add_recipe_of_run(run)
    add_ray(run)
    add_clean(run)
    run.add_argument("--until", choices=STAGES, help="stop after this stage")
    run.set_defaults(command=_run)

    extend = commands.add_parser("extend", help="add datasets to a finished run, without reading the old ones again")
    extend.add_argument("out", metavar="OUT")
    add_recipe(extend, "a YAML file with all datasets, old and new, in rank order")
    add_ray(extend)
    add_clean(extend)
    extend.add_argument("--drop", type=names, default=[], metavar="NAME,…", help="datasets of OUT that are to go")
    extend.set_defaults(command=_extend, sample=None, until=None)


def _run(options: argparse.Namespace) -> int:
    from zydaflow.stages.plan import plan

    if options.clean and options.until:
        raise RecipeError(f"--clean: to go on after {options.until}, a run needs work/; leave out --until or --clean")
    return perform(plan(load(options)), options)


def _extend(options: argparse.Namespace) -> int:
    from zydaflow.stages.extend import extension

    return perform(extension(load(options), options.drop), options, extends=True)


def perform(planned: "Plan", options: argparse.Namespace, extends: bool = False) -> int:
    """Runs a plan, and shows what became of the documents."""
    from zydaflow.provenance.waterfall import render
    from zydaflow.stages.plan import is_finished

    if is_finished(planned):  # the answer comes without Ray and the kernels being loaded
        warn("this run is finished: nothing is left to do")
    else:
        from zydaflow.pipeline import perform, stages_until

        perform(stages_until(options.until), planned, options.address, options.workers, extends)
    out = planned.recipe.output.path
    if options.clean:
        clean_up(out)
    say(f"{render(out)}\n\nreport: {out}/report/index.html")
    return 0


def clean_up(out: str) -> None:
    """Removes work/, and says how much that was."""
    from zydaflow.engine import explained
    from zydaflow.provenance.commits import Store
    from zydaflow.provenance.numbers import megabytes
    from zydaflow.stages.clean import clean

    with explained(out):
        freed = clean(Store(out))
    warn(f"removed work/: {megabytes(freed)}")
