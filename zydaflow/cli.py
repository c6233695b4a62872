"""The commands. Thin, and quick to start: what a command needs is imported when it runs."""

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zydaflow.arguments import share
from zydaflow.commands import classifier as classifier_commands
from zydaflow.commands import filter as filter_commands
from zydaflow.commands import signals as signals_commands
from zydaflow.errors import RecipeError, exit_status
from zydaflow.say import say, warn
from zydaflow.version import __version__

if TYPE_CHECKING:
    from zydaflow.stages.plan import Plan

STAGES = ("measure", "match", "decide", "tokenize")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status.

    0 done, 1 `verify` or `audit` found something, 2 recipe or usage, 3 input, 4 failed but resumable.
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
    _ray_arguments(run)
    _clean_argument(run)
    run.add_argument("--until", choices=STAGES, help="stop after this stage")
    run.set_defaults(command=_run)

    extend = commands.add_parser("extend", help="add datasets to a finished run, without reading the old ones again")
    extend.add_argument("out", metavar="OUT")
    _recipe_argument(extend, "a YAML file with all datasets, old and new, in rank order")
    _ray_arguments(extend)
    _clean_argument(extend)
    extend.add_argument("--drop", type=_names, default=[], metavar="NAME,…", help="datasets of OUT that are to go")
    extend.set_defaults(command=_extend, sample=None, until=None)

    plan = commands.add_parser("plan", help="check a recipe and its inputs, and show what a run would do")
    _recipe_arguments(plan)
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

    _dedup_commands(
        commands.add_parser("dedup", help="ask a finished run what if, or keep what it holds out of others")
    )

    filter_commands.add_commands(commands)
    signals_commands.add_commands(commands)
    classifier_commands.add_commands(commands)

    verify = commands.add_parser("verify", help="check every file of a run against its commit records")
    verify.add_argument("out", metavar="OUT")
    verify.set_defaults(command=_verify)

    audit = commands.add_parser(
        "audit", help="compute a sample of a finished run once more, on other nodes, and compare"
    )
    audit.add_argument("out", metavar="OUT")
    audit.add_argument(
        "--sample", type=share, default=0.01, metavar="SHARE", help="of the units of each stage (default: 1%%)"
    )
    audit.add_argument("--seed", type=int, metavar="N", help="takes the sample of an earlier audit")
    _ray_arguments(audit)
    audit.set_defaults(command=_audit)

    status = commands.add_parser("status", help="say what a run is doing, or has come to")
    status.add_argument("out", metavar="OUT")
    status.set_defaults(command=_status)

    stats = commands.add_parser("stats", help="show what became of the documents of a run, and what each rule did")
    stats.add_argument("out", metavar="OUT")
    stats.add_argument("--json", action="store_true", help="print statistics.json as it is, or the table by domain")
    stats.add_argument("--by", choices=["domain"], help="show it by the domain of the documents' URLs instead")
    stats.set_defaults(command=_stats)

    return parser


def _dedup_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    whatif = commands.add_parser("whatif", help="which documents would stay under other ranks, keys or thresholds")
    whatif.add_argument("out", metavar="OUT")
    whatif.add_argument("--rank", type=_names, metavar="NAME,…", help="all datasets, the best first")
    whatif.add_argument("--threshold", type=float, metavar="SIMILARITY", help="in place of the recipe's")
    whatif.add_argument("--keep", type=_names, metavar="KEY,…", help="in place of the recipe's dedup.keep")
    whatif.add_argument("-o", "--output", metavar="FILE", help="write the removals, as Parquet")
    whatif.add_argument("--workers", type=_cores, metavar="N", help="cores to use (default: all)")
    whatif.set_defaults(command=_whatif)

    index = commands.add_parser("index", help="make an index of the documents that a run keeps, to carry elsewhere")
    index.add_argument("out", metavar="OUT")
    index.add_argument("-o", "--output", metavar="DIR", required=True, help="a new folder")
    index.set_defaults(command=_index)

    against = commands.add_parser("against", help="run a recipe, removing only what is in an index already")
    against.add_argument("index", metavar="INDEX", help="a folder that `zydaflow dedup index` made")
    _recipe_arguments(against)
    _ray_arguments(against)
    _clean_argument(against)
    against.set_defaults(command=_against, until=None)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _ray_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--address",
        default="local",
        metavar="local|auto|HOST:PORT",
        help="where Ray runs (default: local, on this machine)",
    )
    parser.add_argument("--workers", type=_cores, metavar="N", help="cores to use with --address local (default: all)")


def _clean_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clean", action="store_true", help="at the end remove work/, which changes and extend need")


def _recipe_argument(parser: argparse.ArgumentParser, help_: str = "a YAML file") -> None:
    parser.add_argument("recipe", metavar="RECIPE", help=help_)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key, like dedup.threshold=0.8"
    )


def _recipe_arguments(parser: argparse.ArgumentParser) -> None:
    _recipe_argument(parser)
    parser.add_argument("--out", metavar="DIR", help="the output folder, in place of the recipe's")
    parser.add_argument("--sample", type=float, metavar="FRACTION", help="take only this share of every dataset")


def _load(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    from zydaflow.recipe import load_recipe

    return load_recipe(options.recipe, options.set, options.out, options.sample)


def _run(options: argparse.Namespace) -> int:
    from zydaflow.stages.plan import plan

    if options.clean and options.until:
        raise RecipeError(f"--clean: to go on after {options.until}, a run needs work/; leave out --until or --clean")
    return _perform(plan(_load(options)), options)


def _extend(options: argparse.Namespace) -> int:
    from zydaflow.stages.extend import extension

    return _perform(extension(_load(options), options.drop), options, extends=True)


def _perform(planned: "Plan", options: argparse.Namespace, extends: bool = False) -> int:
    from zydaflow.provenance.waterfall import render
    from zydaflow.stages.plan import is_finished

    if is_finished(planned):  # the answer comes without Ray and the kernels being loaded
        warn("this run is finished: nothing is left to do")
    else:
        from zydaflow.pipeline import perform, stages_until

        perform(stages_until(options.until), planned, options.address, options.workers, extends)
    out = planned.recipe.output.path
    if options.clean:
        _clean(out)
    say(f"{render(out)}\n\nreport: {out}/report/index.html")
    return 0


def _clean(out: str) -> None:
    from zydaflow.engine import explained
    from zydaflow.provenance.commits import Store
    from zydaflow.provenance.numbers import megabytes
    from zydaflow.stages.clean import clean

    with explained(out):
        freed = clean(Store(out))
    warn(f"removed work/: {megabytes(freed)}")


def _whatif(options: argparse.Namespace) -> int:
    from zydaflow.provenance.whatif_tables import render
    from zydaflow.what_if import whatif

    answer = whatif(options.out, options.rank, options.threshold, options.keep, options.output, options.workers)
    say(render(answer))
    return 0


def _index(options: argparse.Namespace) -> int:
    from zydaflow.engine import explained
    from zydaflow.provenance.numbers import megabytes
    from zydaflow.stages.index import make

    with explained(options.output):
        record = make(options.out, options.output)
    size = sum(file.bytes for file in record.artefacts.values())
    say(f"{options.output}: {record.counts['documents']:,} documents of {options.out}, {megabytes(size)}")
    return 0


def _against(options: argparse.Namespace) -> int:
    from zydaflow.stages.plan import plan

    only = ["passes=[]", "exact=[]", "across=null", "verify=signature", f"against={json.dumps([options.index])}"]
    options.set = [*options.set, *(f"dedup.{change}" for change in only)]
    if options.out is None:  # the recipe's own folder is that of `run`
        options.out = f"{_load(options).output.path}-against"
    return _perform(plan(_load(options)), options)


def _plan(options: argparse.Namespace) -> int:
    from zydaflow.outlook import render

    say(render(_load(options), options.measure))
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


def _audit(options: argparse.Namespace) -> int:
    from zydaflow.audit import audit, render

    found = audit(options.out, options.sample, options.seed, options.address, options.workers)
    say(render(found))
    return 1 if found.differing else 0


def _status(options: argparse.Namespace) -> int:
    from zydaflow.status import status

    text, exit_code = status(options.out)
    say(text)
    return exit_code


def _stats(options: argparse.Namespace) -> int:
    from zydaflow.provenance.waterfall import render, render_rules, statistics_text

    if options.by:
        return _stats_by_domain(options)
    if options.json:
        say(statistics_text(options.out))
    else:
        say(f"{render(options.out)}\n{render_rules(options.out)}")
    return 0


def _stats_by_domain(options: argparse.Namespace) -> int:
    from zydaflow.provenance.domains import by_domain, render
    from zydaflow.provenance.run import open_run

    table = by_domain(open_run(options.out))
    say(json.dumps(table.to_pylist(), indent=2, ensure_ascii=False) if options.json else render(table))
    return 0
