"""Batch job: the whole curation of a recipe.

    python pipelines/curate.py RECIPE [--address auto|HOST:PORT|local] [--out DIR]

The same as `zydaflow run`, written out: a place to start from for a job with stages of your own.
"""

import sys

from zydaflow.batch import main
from zydaflow.pipeline import Pipeline


def curate(pipeline: Pipeline) -> None:
    """All stages. Each does only what has no commit record yet."""
    pipeline.measure()  # raw records → scores, signals, verdicts, kept text, signatures
    pipeline.match()  # signatures → candidate pairs
    pipeline.decide()  # candidates → removals, and the plan of the output shards
    pipeline.tokenize()  # documents that stay → Arrow shards of tokens
    pipeline.account()  # commit records → evidence, statistics, report, card


if __name__ == "__main__":
    sys.exit(main(__doc__, curate))
