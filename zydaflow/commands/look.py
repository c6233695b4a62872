"""`zydaflow status` and `zydaflow stats`."""

import argparse
import json
from typing import TYPE_CHECKING

from zydaflow.say import say

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `status` and `stats`."""
    status = commands.add_parser("status", help="say what a run is doing, or has come to")
    status.add_argument("out", metavar="OUT")
    status.set_defaults(command=_status)

    stats = commands.add_parser("stats", help="show what became of the documents of a run, and what each rule did")
    stats.add_argument("out", metavar="OUT")
    stats.add_argument("--json", action="store_true", help="print statistics.json as it is, or the table by domain")
    stats.add_argument("--by", choices=["domain"], help="show it by the domain of the documents' URLs instead")
    stats.set_defaults(command=_stats)


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
