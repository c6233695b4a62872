"""What is asked of the two libraries, `tokenizers` and `fastokens`, and what becomes of it when they fail."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import fastokens
import numpy as np
import tokenizers

from zydaflow.errors import RunError

CHUNK = 64  # documents that `tokenizers` encodes at once: it holds an object per token


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """A panic inside becomes a ValueError: pyo3 makes it a BaseException, of a type that cannot be imported."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"it panicked: {error}") from error


def build(definition: str) -> tokenizers.Tokenizer:
    """The tokenizer of a tokenizer.json's content. Raises ValueError for what is none."""
    try:
        with panics_as_errors():
            return tokenizers.Tokenizer.from_str(definition)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(str(error)) from error


def build_fast(definition: str) -> fastokens.Tokenizer:
    """The same by `fastokens`. Raises ValueError for what it does not support."""
    with panics_as_errors():
        return fastokens.Tokenizer.from_json_str(definition)


def encode(
    fast: fastokens.Tokenizer | None, reference: tokenizers.Tokenizer, texts: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """ids uint32 of all n texts, and n + 1 offsets int64. Raises RunError as `encode_slowly` does."""
    if fast:
        try:
            with panics_as_errors():
                ids, offsets = fast.encode_batch_flat(texts, add_special_tokens=False, split_special_tokens=True)
            return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)
        except ValueError:  # like a text that is more than its regular expressions' stack holds
            pass
    parts = [np.empty(0, np.uint32), *encode_slowly(reference, texts)]
    return np.concatenate(parts), np.cumsum([len(part) for part in parts], dtype=np.int64)


def encode_slowly(reference: tokenizers.Tokenizer, texts: Sequence[str], first: int = 0) -> Iterator[np.ndarray]:
    """ids uint32 of each text by `tokenizers`. `first` is the number of the first text in its batch.

    Raises RunError naming the text that the library cannot encode.
    """
    for start in range(0, len(texts), CHUNK):
        yield from _encode_chunk(reference, texts[start : start + CHUNK], first + start)


def _encode_chunk(reference: tokenizers.Tokenizer, texts: Sequence[str], first: int) -> list[np.ndarray]:
    try:
        with panics_as_errors():
            encodings = reference.encode_batch_fast(texts, add_special_tokens=False)
    except Exception as error:  # the library raises nothing narrower, and does not say for which text
        if len(texts) == 1:
            raise RunError(
                f"`tokenizers` {tokenizers.__version__} cannot encode document {first} of this batch, which begins "
                f"{texts[0][:80]!r}: {error}"
            ) from error
        half = len(texts) // 2
        return _encode_chunk(reference, texts[:half], first) + _encode_chunk(reference, texts[half:], first + half)
    return [np.array(encoding.ids, np.uint32) for encoding in encodings]
