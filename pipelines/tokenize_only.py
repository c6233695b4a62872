"""Batch job: tokenize data that is filtered and deduplicated already.

    python pipelines/tokenize_only.py RECIPE --out DIR [--address auto|HOST:PORT|local]

Of the recipe its datasets, `tokenizer:` and `output:` count. Its filters, transforms and `dedup:` do not.
"""

import sys

from zydaflow.batch import main, unfiltered
from zydaflow.pipeline import Pipeline
from zydaflow.recipe import Recipe


def tokens_alone(recipe: Recipe) -> Recipe:
    """The recipe without rules, transforms and deduplication."""
    return unfiltered(recipe).model_copy(update={"dedup": None})


def tokenize(pipeline: Pipeline) -> None:
    """The stages of `curate.py` without matching: every document that has a text stays."""
    pipeline.measure()  # raw records → text
    pipeline.decide()  # the plan of the output shards
    pipeline.tokenize()  # all documents → Arrow shards of tokens
    pipeline.account()  # commit records → statistics, report, card


if __name__ == "__main__":
    sys.exit(main(__doc__, tokenize, tokens_alone))
