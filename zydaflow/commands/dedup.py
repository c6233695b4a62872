"""`zydaflow dedup whatif`, `dedup index` and `dedup against`."""

import argparse
import json
from typing import TYPE_CHECKING

from zydaflow.arguments import add_clean, add_ray, add_recipe_of_run, cores, load, names
from zydaflow.commands.run import perform
from zydaflow.say import say

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `dedup` and what belongs to it."""
    parser = commands.add_parser("dedup", help="ask a finished run what if, or keep what it holds out of others")
    below = parser.add_subparsers(metavar="COMMAND", required=True)

    whatif = below.add_parser("whatif", help="which documents would stay under other ranks, keys or thresholds")
    whatif.add_argument("out", metavar="OUT")
    whatif.add_argument("--rank", type=names, metavar="NAME,…", help="all datasets, the best first")
    whatif.add_argument("--threshold", type=float, metavar="SIMILARITY", help="in place of the recipe's")
    whatif.add_argument("--keep", type=names, metavar="KEY,…", help="in place of the recipe's dedup.keep")
    whatif.add_argument("-o", "--output", metavar="FILE", help="write the removals, as Parquet")
    whatif.add_argument("--workers", type=cores, metavar="N", help="cores to use (default: all)")
    whatif.set_defaults(command=_whatif)

    index = below.add_parser("index", help="make an index of the documents that a run keeps, to carry elsewhere")
    index.add_argument("out", metavar="OUT")
    index.add_argument("-o", "--output", metavar="DIR", required=True, help="a new folder")
    index.set_defaults(command=_index)

    against = below.add_parser("against", help="run a recipe, removing only what is in an index already")
    against.add_argument("index", metavar="INDEX", help="a folder that `zydaflow dedup index` made")
    add_recipe_of_run(against)
    add_ray(against)
    add_clean(against)
    against.set_defaults(command=_against, until=None)


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
        options.out = f"{load(options).output.path}-against"
    return perform(plan(load(options)), options)
