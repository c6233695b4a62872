"""A scorer at work: a process that calls the function, and what happens to documents on which it fails.

The function and its models are loaded once, where the process begins. A batch on which the function raises, ends the
process or does not return in time is cut into pieces, those that fail again, and so on down to single documents, which
then have no score. The process is replaced where it ended; whoever reads the documents goes on.
"""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zydaflow import scorers, transforms
from zydaflow.errors import ZydaflowError
from zydaflow.recipe import Recipe, ScorerSpec
from zydaflow.stages.failing import PIECES
from zydaflow.stages.reading import time_limit
from zydaflow.stages.trial import Failure, Trial

TRIES = 3  # with a single document, of what may be no fault of it: memory that does not suffice, a service out of reach
LOADING = 600  # seconds that a scorer may take to begin

Transforms = tuple[str, ...]


class Scoring:
    """The process of one of a recipe's scorers."""

    def __init__(self, recipe: Recipe, name: str) -> None:
        spec, used = recipe.scorers[name], {recipe.transform_of(dataset) for dataset in recipe.datasets}
        told = name, spec.model_dump_json()
        self._trial = Trial(partial(_begin, *told, tuple(sorted(used))), partial(_score, *told), spec.seconds)
        self._batch = spec.batch

    def score(self, records: pa.RecordBatch, transform: Transforms) -> tuple[pa.Array, dict[int, Failure]]:
        """The scores of n documents, float64 (n,), and why rows that the function fails on have none.

        Raises RecipeError where the function cannot be loaded, or gives anything but a number for each text.
        """
        failures: dict[int, Failure] = {}
        scores, low, size = [pa.array([], pa.float64())], 0, self._batch
        with tempfile.NamedTemporaryFile(prefix="zydaflow-") as file:
            texts = records.select(["text"])
            with pa.ipc.new_stream(file, texts.schema) as stream:
                stream.write_batch(texts)
            file.flush()
            while low < len(records):
                high, before = min(low + size, len(records)), len(failures)
                pieces = list(self._among((file.name, transform), low, high, failures))
                if len(failures) == before:  # where only pieces of it succeed, so large a batch is too much
                    size = max(map(len, pieces))
                scores += pieces
                low = high
        return pa.concat_arrays(scores), failures

    def close(self) -> None:
        """Ends the process."""
        self._trial.close()

    def _among(
        self, where: tuple[str, Transforms], low: int, high: int, failures: dict[int, Failure]
    ) -> Iterator[pa.Array]:
        """The scores of rows [low, high), in as few pieces as the function succeeds on; notes rows that it fails on."""
        outcome = self._outcome(where, low, high)
        if not isinstance(outcome, Failure):
            yield outcome
        elif high - low == 1:
            failures[low] = outcome
            yield pa.nulls(1, pa.float64())
        else:
            step = -(-(high - low) // PIECES)
            for start in range(low, high, step):
                yield from self._among(where, start, min(start + step, high), failures)

    def _outcome(self, where: tuple[str, Transforms], low: int, high: int) -> pa.Array | Failure:
        path, transform = where
        failure = Failure("")
        for _ in range(TRIES if high - low == 1 else 1):
            self._trial.begin()  # what goes wrong here is no fault of a document
            try:
                return self._trial.result(path, low, high, transform)
            except ZydaflowError:
                raise
            except (MemoryError, OSError) as error:
                failure = Failure(f"its processing raised {type(error).__name__}: {error}")
        return failure


@lru_cache(maxsize=1)
def _loaded(name: str, spec: str) -> scorers.Scorer:
    return scorers.load(name, ScorerSpec.model_validate_json(spec))


def _begin(name: str, spec: str, used: tuple[Transforms, ...]) -> None:
    """Loads all that documents need; the function may load what it needs when it is first called."""
    data = b"one two three" + b"." * 50  # some of everything that transforms change
    buffers = pa.py_buffer(np.array([0, len(data)]).tobytes()), pa.py_buffer(data)  # immutable, as those of documents
    text = pa.LargeStringArray.from_buffers(1, *buffers)
    with time_limit(LOADING, 0):
        function = _loaded(name, spec)
        for transform in used:
            transforms.apply(transform, text)
        with suppress(Exception):  # it is told where it fails on documents
            function(text)


def _score(name: str, spec: str, records: pa.RecordBatch, transform: Transforms) -> pa.Array:
    """The scores of the records; those that are blank are not shown to the function."""
    text = transforms.apply(transform, records["text"])
    rows = np.flatnonzero(~_blank(text))
    if not len(rows):
        return pa.nulls(len(text), pa.float64())
    scores = scorers.call(name, _loaded(name, spec), text.take(pa.array(rows)))
    at = np.full(len(text), -1)
    at[rows] = np.arange(len(rows))
    return scores.take(pa.array(at, mask=at < 0))


def _blank(text: pa.LargeStringArray) -> np.ndarray:
    """bool (n,): null, or nothing but whitespace. Not by a kernel, whose tables cost each process a second."""
    nothing = pc.or_(pc.utf8_is_space(text), pc.equal(pc.binary_length(text), 0))
    return nothing.fill_null(True).to_numpy(zero_copy_only=False)
