"""`zydaflow classifier train`."""

import argparse
from typing import TYPE_CHECKING

from zydaflow.arguments import share
from zydaflow.say import say

if TYPE_CHECKING:
    from zydaflow.commands import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `classifier` to the commands."""
    classifier = commands.add_parser("classifier", help="train a classifier of quality")
    below = classifier.add_subparsers(metavar="COMMAND", required=True)

    train = below.add_parser("train", help="train a fastText model on good and bad documents, and evaluate it")
    told = "names of the recipe's datasets, or paths without --recipe"
    train.add_argument("--good", nargs="+", required=True, metavar="DATASET", help=told)
    train.add_argument("--bad", nargs="+", required=True, metavar="DATASET", help=told)
    train.add_argument("--recipe", metavar="RECIPE", help="a YAML file that describes the datasets")
    train.add_argument("--eval", metavar="FILE", help="documents with text and label: good or bad, to evaluate on")
    train.add_argument(
        "--keep",
        type=share,
        metavar="SHARE",
        help="of the documents to evaluate on, which the threshold is to keep (default: as many as are good)",
    )
    train.add_argument("--out", required=True, metavar="DIR", help="a new folder")
    train.set_defaults(command=_train)


def _train(options: argparse.Namespace) -> int:
    from zydaflow.classifier import card
    from zydaflow.classifier.train import CARD, train_classifier
    from zydaflow.recipe import load_recipe

    recipe = load_recipe(options.recipe) if options.recipe else None
    trained = train_classifier(options.good, options.bad, options.out, recipe, options.eval, options.keep)
    good, bad = trained.trained_on
    say(f"trained on {good:,} good and {bad:,} bad documents; on {trained.held_out}:\n")
    say(f"{card.cuts(trained.evaluation)}\n\n{card.calibration(trained.evaluation)}\n")
    say(f"{options.out}/{CARD} says more")
    return 0
