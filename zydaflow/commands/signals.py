"""`zydaflow signals`: what can be measured, and which rule sets use it."""

import argparse
import json
from typing import TYPE_CHECKING

from zydaflow.say import say

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `signals`."""
    parser = commands.add_parser("signals", help="list all signals: what each means, and the rule sets that use it")
    parser.add_argument("--set", metavar="NAME", help="only what this rule set uses")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(command=_signals)


def _signals(options: argparse.Namespace) -> int:
    from zydaflow.signal_list import list_signals, render

    listed = list_signals(options.set)
    say(json.dumps(listed, indent=2, ensure_ascii=False) if options.json else render(listed))
    return 0
