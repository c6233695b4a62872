"""The forms of values on the command line."""

import argparse


def share(text: str) -> float:
    """Of `1%` or `0.01`."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = 0
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share above 0 and up to 100%")
    return found
