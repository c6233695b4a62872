"""Training itself, in a process of its own, which gives its memory back and takes nobody with it.

By the package `fasttext-new`, whose models any fastText reads: bindings that install a module `fasttext` replace one
another's files, and the one that comes with the model of languages cannot train.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from zydaflow.errors import InputError, RunError

PROGRAM = """
import json, sys, fasttext_new
fasttext_new.train_supervised(**json.loads(sys.argv[1])).save_model(sys.argv[2])
"""
LINES = 50_000  # that training sees, the documents again and again: in 5 rounds at least, in 25 at most


def settings_for(documents: int) -> dict[str, Any]:
    """What fastText is told, by its own names.

    Its defaults are for millions of lines: a thousand documents seen five times teach it nothing.
    """
    epochs = min(25, max(5, -(-LINES // documents)))
    return {
        "dim": 16,
        "epoch": epochs,
        "lr": 0.5,
        "wordNgrams": 2,
        "minCount": 2,
        "bucket": 2**19,
        "loss": "softmax",
    }


def check_installed() -> None:
    """Raises InputError where there is nothing to train with."""
    if importlib.util.find_spec("fasttext_new") is None:
        raise InputError("training needs the package fasttext-new; run: pip install 'zydaflow[classifier]'")


def fit(lines: Path, documents: int, model: Path, seed: int) -> None:
    """Trains on a file of so many labelled lines and writes the model: one thread, so that it is the same each time.

    Raises RunError where training fails.
    """
    arguments = {"input": str(lines), "seed": seed, "thread": 1, "verbose": 0, **settings_for(documents)}
    command = [sys.executable, "-P", "-c", PROGRAM, json.dumps(arguments), str(model)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise RunError(f"training ended with {done.returncode}: {last or 'no message; for want of memory, perhaps'}")
