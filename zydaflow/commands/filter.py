"""`zydaflow filter whatif`: what a finished run would keep under other rules."""

import argparse
import json
from typing import TYPE_CHECKING

from zydaflow.arguments import names
from zydaflow.say import say

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `filter` and what belongs to it."""
    parser = commands.add_parser("filter", help="ask a run what other rules would keep")
    whatif = parser.add_subparsers(metavar="COMMAND", required=True).add_parser(
        "whatif", help="how many documents, bytes and tokens would stay under other rules, from the stored signals"
    )
    whatif.add_argument("out", metavar="OUT")
    whatif.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="RULE=VALUE",
        help="another bound, like zyda.mean_word_length.max=10, with null no such rule; or a key of the recipe, "
        "like datasets.blog.filters=[c4]",
    )
    whatif.add_argument("--filters", type=names, metavar="NAME,…", help="rule sets in place of the recipe's filters")
    whatif.add_argument("--json", action="store_true", help="print the answer as JSON, with every count")
    whatif.set_defaults(command=_whatif)


def _whatif(options: argparse.Namespace) -> int:
    from zydaflow.filter_what_if import filter_whatif
    from zydaflow.provenance.filter_whatif_tables import render

    answer = filter_whatif(options.out, options.set, options.filters)
    say(json.dumps(answer, indent=2, ensure_ascii=False) if options.json else render(answer))
    return 0
