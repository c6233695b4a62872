"""Arguments that several commands take, and the forms of their values."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zydaflow.recipe import Recipe


def share(text: str) -> float:
    """Of `1%` or `0.01`."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = 0
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share above 0 and up to 100%")
    return found


def cores(text: str) -> int:
    """Of `2`."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of cores, 1 or more")
    return int(text)


def names(text: str) -> list[str]:
    """Of `NAME,NAME`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_ray(parser: argparse.ArgumentParser) -> None:
    """Where Ray runs."""
    parser.add_argument(
        "--address",
        default="local",
        metavar="local|auto|HOST:PORT",
        help="where Ray runs (default: local, on this machine)",
    )
    parser.add_argument("--workers", type=cores, metavar="N", help="cores to use with --address local (default: all)")


def add_clean(parser: argparse.ArgumentParser) -> None:
    """Whether to keep what resuming needs."""
    parser.add_argument("--clean", action="store_true", help="at the end remove work/, which changes and extend need")


def add_recipe(parser: argparse.ArgumentParser, help_: str = "a YAML file") -> None:
    """A recipe, and changes of its keys."""
    parser.add_argument("recipe", metavar="RECIPE", help=help_)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key, like dedup.threshold=0.8"
    )


def add_recipe_of_run(parser: argparse.ArgumentParser) -> None:
    """A recipe, with what each run may change."""
    add_recipe(parser)
    parser.add_argument("--out", metavar="DIR", help="the output folder, in place of the recipe's")
    parser.add_argument("--sample", type=float, metavar="FRACTION", help="take only this share of every dataset")


def load(options: argparse.Namespace) -> "Recipe":
    """The recipe that the arguments of `add_recipe_of_run` tell of."""
    from zydaflow.recipe import load_recipe

    return load_recipe(options.recipe, options.set, options.out, options.sample)
