"""Batch job: deduplicate data that is filtered already.

    python pipelines/dedup_only.py RECIPE --out DIR [--address auto|HOST:PORT|local]

Of the recipe its datasets, `dedup:` and `output:` count. Its filters, transforms and tokenizer do not: the text that
stays is written as it is, and what goes is in `evidence/`.
"""

import sys

from zydaflow.batch import main, unfiltered
from zydaflow.pipeline import Pipeline
from zydaflow.recipe import Recipe


def text_alone(recipe: Recipe) -> Recipe:
    """The recipe without rules, transforms and tokenizer."""
    output = recipe.output.model_copy(update={"text": True})
    return unfiltered(recipe).model_copy(update={"tokenizer": None, "output": output})


def deduplicate(pipeline: Pipeline) -> None:
    """The stages of `curate.py`, with nothing to measure but signatures and no tokens to write."""
    pipeline.measure()  # raw records → text, signatures
    pipeline.match()  # signatures → candidate pairs
    pipeline.decide()  # candidates → removals, and the plan of the output shards
    pipeline.tokenize()  # documents that stay → Arrow shards of text
    pipeline.account()  # commit records → evidence, statistics, report, card


if __name__ == "__main__":
    sys.exit(main(__doc__, deduplicate, text_alone))
