"""`zydaflow plan` and `zydaflow init`."""

import argparse
from typing import TYPE_CHECKING

from zydaflow.arguments import add_recipe_of_run, load
from zydaflow.errors import RecipeError
from zydaflow.say import say, warn

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `plan` and `init`."""
    plan = commands.add_parser("plan", help="check a recipe and its inputs, and show what a run would do")
    add_recipe_of_run(plan)
    plan.add_argument(
        "--measure",
        action="store_true",
        help="also read a sample of the text: expected misses, false candidates, disk and memory",
    )
    plan.set_defaults(command=_plan)

    init = commands.add_parser("init", help="look at files and folders and write a recipe to start from")
    init.add_argument("paths", nargs="+", metavar="PATH")
    init.add_argument("--name", help="the recipe's name (default: from the first path)")
    init.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")
    init.set_defaults(command=_init)


def _plan(options: argparse.Namespace) -> int:
    from zydaflow.outlook import render

    say(render(load(options), options.measure))
    return 0


def _init(options: argparse.Namespace) -> int:
    from zydaflow.draft import init

    text = init(options.paths, options.name)
    if options.output is None:
        say(text, end="")
        return 0
    try:
        with open(options.output, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RecipeError(f"--output: {options.output} cannot be written: {error.strerror}; give another") from error
    warn(f"wrote {options.output}; read it, then: zydaflow plan {options.output}")
    return 0
