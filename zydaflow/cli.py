"""The command line."""

import argparse
from collections.abc import Sequence

from zydaflow.commands import check, classifier, dedup, filter, look, recipe, run, signals
from zydaflow.errors import exit_status
from zydaflow.version import __version__

GROUPS = (run, recipe, dedup, filter, signals, classifier, check, look)  # as `--help` lists them


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status.

    0 done, 1 `verify` or `audit` found something, 2 recipe or usage, 3 input, 4 failed but resumable.
    """
    options = _parser().parse_args(arguments)
    return exit_status("zydaflow", lambda: options.command(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zydaflow",
        description="Curates open text datasets into one filtered, deduplicated, tokenized corpus with provenance.",
    )
    parser.add_argument("--version", action="version", version=f"zydaflow {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for group in GROUPS:
        group.add_commands(commands)
    return parser
