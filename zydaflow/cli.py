"""The commands. Thin, and quick to start: what a command needs is imported when it runs."""

import argparse
from collections.abc import Sequence

from zydaflow.errors import RecipeError, exit_status
from zydaflow.say import say, warn
from zydaflow.version import __version__

STAGES = ("measure", "match", "decide", "tokenize")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status.

    0 done, 1 `verify` found something, 2 recipe or usage, 3 input, 4 failed but resumable.
    """
    options = _parser().parse_args(arguments)
    return exit_status("zydaflow", lambda: options.command(options))


def _cores(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of cores, 1 or more")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zydaflow",
        description="Curates open text datasets into one filtered, deduplicated, tokenized corpus with provenance.",
    )
    parser.add_argument("--version", action="version", version=f"zydaflow {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="run a recipe, or what is missing of it")
    _recipe_arguments(run)
    run.add_argument(
        "--address",
        default="local",
        metavar="local|auto|HOST:PORT",
        help="where Ray runs (default: local, on this machine)",
    )
    run.add_argument("--workers", type=_cores, metavar="N", help="cores to use with --address local (default: all)")
    run.add_argument("--until", choices=STAGES, help="stop after this stage")
    run.set_defaults(command=_run)

    plan = commands.add_parser("plan", help="check a recipe and its inputs, and show what a run would do")
    _recipe_arguments(plan)
    plan.set_defaults(command=_plan)

    init = commands.add_parser("init", help="look at files and folders and write a recipe to start from")
    init.add_argument("paths", nargs="+", metavar="PATH")
    init.add_argument("--name", help="the recipe's name (default: from the first path)")
    init.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")
    init.set_defaults(command=_init)

    verify = commands.add_parser("verify", help="check every file of a run against its commit records")
    verify.add_argument("out", metavar="OUT")
    verify.set_defaults(command=_verify)

    stats = commands.add_parser("stats", help="show what became of the documents of a run, and what each rule did")
    stats.add_argument("out", metavar="OUT")
    stats.add_argument("--json", action="store_true", help="print statistics.json as it is")
    stats.set_defaults(command=_stats)
    return parser


def _recipe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file")
    parser.add_argument("--out", metavar="DIR", help="the output folder, in place of the recipe's")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key, like dedup.threshold=0.8"
    )
    parser.add_argument("--sample", type=float, metavar="FRACTION", help="take only this share of every dataset")


def _load(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    from zydaflow.recipe import load_recipe

    return load_recipe(options.recipe, options.set, options.out, options.sample)


def _run(options: argparse.Namespace) -> int:
    from zydaflow.provenance.waterfall import render
    from zydaflow.stages.plan import is_finished, plan

    planned = plan(_load(options))
    if is_finished(planned):  # the answer comes without Ray and the kernels being loaded
        warn("this run is finished: nothing is left to do")
    else:
        from zydaflow.pipeline import perform, stages_until

        perform(stages_until(options.until), planned, options.address, options.workers)
    out = planned.recipe.output.path
    say(f"{render(out)}\n\nreport: {out}/report/index.html")
    return 0


def _plan(options: argparse.Namespace) -> int:
    from zydaflow.outlook import render

    say(render(_load(options)))
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


def _verify(options: argparse.Namespace) -> int:
    from zydaflow.provenance.verify import verify

    problems = verify(options.out)
    for problem in problems:
        say(problem)
    if problems and not problems[0].startswith("run.json"):
        warn("what is damaged is made anew if you delete it and run the recipe again")
    if not problems:
        say(f"{options.out}: every file is as its commit record says, and every document is accounted for")
    return 1 if problems else 0


def _stats(options: argparse.Namespace) -> int:
    from zydaflow.provenance.waterfall import render, render_rules, statistics_text

    if options.json:
        say(statistics_text(options.out))
    else:
        say(f"{render(options.out)}\n{render_rules(options.out)}")
    return 0
