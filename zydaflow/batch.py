"""Batch jobs: a list of stages, told as a function of a Pipeline, becomes a command (see `pipelines/`)."""

import argparse
from collections.abc import Callable

from zydaflow.errors import exit_status
from zydaflow.pipeline import Story, perform
from zydaflow.provenance.waterfall import render
from zydaflow.recipe import Recipe, load_recipe
from zydaflow.say import say
from zydaflow.stages.plan import plan


def main(description: str, story: Story, change: Callable[[Recipe], Recipe] | None = None) -> int:
    """Runs the story on the command line's recipe, as `change` gives it; returns the exit status of `zydaflow run`.

    A changed recipe needs an `--out` of its own: the recipe's would be that of another run.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file")
    parser.add_argument("--address", default="auto", metavar="auto|HOST:PORT|local", help="which Ray (default: auto)")
    help_ = "the output folder, in place of the recipe's"
    parser.add_argument("--out", metavar="DIR", required=change is not None, help=help_)
    options = parser.parse_args()

    def command() -> int:
        recipe = load_recipe(options.recipe, out=options.out)
        say(render(perform(story, plan(change(recipe) if change else recipe), options.address)))
        return 0

    return exit_status(parser.prog, command)


def unfiltered(recipe: Recipe) -> Recipe:
    """The recipe without rules and transforms: every document that has a text goes on, byte for byte."""
    nothing = {"filters": (), "transform": ()}
    datasets = tuple(dataset.model_copy(update=nothing) for dataset in recipe.datasets)
    return recipe.model_copy(update={"datasets": datasets, "filters": (), "language": None, "licenses": None})
