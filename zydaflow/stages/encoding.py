"""Tokenizing kept documents in bounded time. A unit fails, and names it, over one that cannot be: it counts as kept.

All is done in the unit's own process, which ends with a document that hangs or crashes it. When the unit is done again,
each batch is tried out before, in a process that may end, until the document is found.
"""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from zydaflow import tokens
from zydaflow.errors import RunError
from zydaflow.provenance.commits import Store
from zydaflow.provenance.tables import read_table
from zydaflow.recipe import TokenizerSpec
from zydaflow.stages.failing import failing_rows
from zydaflow.stages.manifest import Part
from zydaflow.stages.reading import time_limit
from zydaflow.stages.trial import Trial
from zydaflow.stages.unit import Trouble

Place = Callable[[int], str]  # of a row: the file and the position there


class Encoding:
    """A tokenizer at work in a unit, after some trouble or none. Each `BATCH_BYTES` have so many seconds."""

    def __init__(self, tokenizer: str | TokenizerSpec, seconds: float, trouble: Trouble) -> None:
        self.model = tokens.load(tokenizer)
        self._seconds, self._suspect = seconds, trouble.suspect
        self._tokenizer = tokenizer

    def encode(self, texts: pa.LargeStringArray, checked: int, place: Place) -> tokens.Encoded:
        """Their tokens, of which those of some documents are compared with the reference tokenizer.

        Raises RunError for a document that cannot be encoded, and one whose ids differ.
        """
        if self._suspect:
            work = partial(_encode, self._tokenizer)
            refuse_failing(partial(tokens.load, self._tokenizer), work, self._seconds, texts, place)
        with time_limit(self._seconds, texts.nbytes):
            encoded = self.model.encode(texts)
            tokens.check_sample(self.model, texts, encoded, checked)
        return encoded


def _encode(tokenizer: str | TokenizerSpec, records: pa.RecordBatch) -> None:
    tokens.load(tokenizer).encode(records["text"])


def refuse_failing(
    warm: Callable[[], Any],
    work: Callable[[pa.RecordBatch], Any],
    seconds: float,
    texts: pa.LargeStringArray,
    place: Place,
) -> None:
    """Tries out `work` on texts, the one column of its records. Raises RunError naming the first one that fails."""
    with closing(Trial(warm, work, seconds)) as trial:
        for row, failure in failing_rows(trial, pa.record_batch([texts], ["text"])):
            raise RunError(
                f"the tokenizer fails on the document {place(row)}: {failure.reason}. It counts as kept and cannot be "
                f"set aside: leave it out of the input, or take another tokenizer\n{failure.traceback}".rstrip()
            )


def place_in(store: Store, part: Part, rows: np.ndarray) -> Place:
    """The places of some rows (of the kept text) of a part."""

    def place(row: int) -> str:
        position = read_table(store, part.documents)["position"][int(rows[row])].as_py()
        return f"at {position:,} of {part.file}"

    return place
