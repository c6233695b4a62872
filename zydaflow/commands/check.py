"""`zydaflow verify` and `zydaflow audit`."""

import argparse
from typing import TYPE_CHECKING

from zydaflow.arguments import add_ray, share
from zydaflow.say import say, warn

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `verify` and `audit`."""
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
    add_ray(audit)
    audit.set_defaults(command=_audit)


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
