"""Text to token ids: by `fastokens` where it reads the tokenizer as `tokenizers` does, else by `tokenizers` itself."""

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import fastokens
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tokenizers
import xxhash

from zydaflow.errors import InputError, RunError
from zydaflow.recipe.model import TokenizerSpec
from zydaflow.tokens.control import as_text, literal_forms
from zydaflow.tokens.files import configured_end_of_text, locate
from zydaflow.tokens.libraries import build, build_fast, encode, encode_slowly
from zydaflow.tokens.pieces import PIECE_BYTES, can_cut, cut

END_OF_TEXT = ("<|endoftext|>", "</s>", "<eos>", "<|end_of_text|>", "<|eot_id|>", "[SEP]")  # where nothing names one

# What every tokenizer is tried on, and what the two libraries must agree on before the fast one is used: spaces, lines,
# digits, accents, scripts, emoji.
PROBES = (
    *("", " ", "\n\n\n", "\t \r\n  x", "            deep\n                            deeper", "don't I'LL we've"),
    *("x = 1234567.890e-5;", "é e\u0301 ﬁ Å K", "İstanbul ΣΑΣ straße", "漢字かな交じり文 한국어 ไทย العربية हिन्दी"),
    *("👩‍👩‍👧 🇫🇷 \u200b\ufeff\u00a0", "\x00\x01\x7f\ufffd", "<|a|> [B] <c> ▁ Ġ <0x41>"),
)
COMPARED_BYTES = 1 << 20  # longer documents are left out of samples: the slow library does 2 MB/s


class Encoded(NamedTuple):
    """n documents of tokens: document i is ids[offsets[i]:offsets[i + 1]] and ends with the end-of-text token."""

    ids: np.ndarray  # uint16 or uint32, as Tokenizer.dtype says
    offsets: np.ndarray  # int64, n + 1 of them; the first is 0


@dataclass(frozen=True)
class Tokenizer:
    """A loaded tokenizer. Literal control tokens in a text are ordinary text to it."""

    path: Path
    """the tokenizer.json"""
    end_of_text: int
    """the id that ends every document"""
    end_of_text_token: str
    vocab_size: int
    """the largest id, added tokens included, + 1"""
    backend: str
    """the library that encodes: fastokens or tokenizers"""
    note: str
    """why it is the slow one; empty where it is not"""
    fingerprint: dict[str, str]
    """xxh3-128 of the tokenizer.json, the end-of-text token, and the libraries' versions"""
    _reference: tokenizers.Tokenizer = field(repr=False)
    _fast: fastokens.Tokenizer | None = field(repr=False)
    _cuts: bool = field(repr=False)  # whether long documents can be cut

    @property
    def dtype(self) -> np.dtype:
        """Of the ids: uint16 where every id fits."""
        return np.dtype(np.uint16 if self.vocab_size <= 1 << 16 else np.uint32)

    def encode(self, texts: pa.LargeStringArray) -> Encoded:
        """The ids of every document, each followed by the end-of-text token.

        Raises RunError if that token is anywhere else, so that documents could not be told apart, and for a document
        that neither library can encode.
        """
        made: list[np.ndarray] = []
        offsets = [np.zeros(1, np.int64)]
        count = 0
        for ids, ends in self._groups(texts):
            made.append(np.insert(ids.astype(self.dtype), ends, self.end_of_text))
            offsets.append(count + ends + np.arange(1, len(ends) + 1))
            count += len(made[-1])
        ends_of_text = sum(np.count_nonzero(piece == self.end_of_text) for piece in made)  # a few bytes at a time
        ids = _joined(made)
        if ends_of_text != len(texts):
            raise RunError(
                f"the tokenizer {self.path} gives its end-of-text token {self.end_of_text_token!r} for ordinary text. "
                "Name another one: `tokenizer: {path:, end_of_text:}`."
            )
        return Encoded(ids, np.concatenate(offsets))

    def _groups(self, texts: pa.LargeStringArray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The ids uint32 of documents or pieces of one, as many as are in memory as strings at once, all in order.

        With each comes int64: after how many of its ids a document ends.
        """
        long = np.flatnonzero(text_sizes(texts) > PIECE_BYTES).tolist() if self._cuts else []
        start = 0
        for row in (*long, len(texts)):
            if row > start or not len(texts):
                ids, offsets = self._ids(texts[start:row].to_pylist())
                yield ids, offsets[1:]
            if row < len(texts):
                yield from self._long(memoryview(texts[row].as_buffer()))
            start = row + 1

    def _long(self, text: memoryview) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The same for one document that may be cut."""
        left = len(text)
        for piece in cut(text, self._apart):
            left -= len(piece)
            ids, _ = self._ids([str(piece, "utf-8")])
            yield ids, np.array([] if left else [len(ids)], np.int64)

    def _apart(self, before: str, after: str) -> bool:
        """Whether two strings are split into the same words as the one that they make."""
        return self._words(before) + self._words(after) == self._words(before + after)

    def _words(self, text: str) -> list[str]:
        """What the model takes each for itself."""
        normalizer, splitter = self._reference.normalizer, self._reference.pre_tokenizer
        return [word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text) if normalizer else text)]

    def _ids(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        return encode(self._fast, self._reference, texts)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """One after the other; they are used up on the way, so that little more than the result is ever in memory."""
    if len(parts) == 1:
        return parts[0]
    joined = np.empty(sum(map(len, parts)), parts[0].dtype)
    end = len(joined)
    while parts:
        part = parts.pop()
        joined[end - len(part) : end] = part
        end -= len(part)
    return joined


def text_sizes(texts: pa.LargeStringArray) -> np.ndarray:
    """int64: the bytes of each text, of which none is null."""
    return pc.binary_length(texts).to_numpy()


def load(spec: str | TokenizerSpec) -> Tokenizer:
    """The tokenizer of a path to a tokenizer.json, a folder that holds one, or a hub name.

    Raises InputError if there is none, it cannot be used, or no token ends its documents.
    """
    name, end_of_text = (spec, None) if isinstance(spec, str) else (spec.path, spec.end_of_text)
    path = locate(name)
    return _load(path, path.read_bytes(), end_of_text or configured_end_of_text(path))


@functools.lru_cache(maxsize=2)  # every unit of work asks for it; by content, so that a changed file is another one
def _load(path: Path, content: bytes, end_of_text: str | None) -> Tokenizer:
    definition, vocabulary = _parse(path, content)
    token = _end_of_text(path, vocabulary, end_of_text)
    text, reference, expected = _try(path, definition, token, vocabulary[token])
    fast, note = _fast(text, reference, expected)
    libraries = {name: version(name) for name in ("fastokens", "tokenizers")}
    return Tokenizer(
        path=path,
        end_of_text=vocabulary[token],
        end_of_text_token=token,
        vocab_size=max(vocabulary.values()) + 1,
        backend="fastokens" if fast else "tokenizers",
        note=note,
        fingerprint={"xxh3": xxhash.xxh3_128_hexdigest(content), "end_of_text": token, **libraries},
        _reference=reference,
        _fast=fast,
        _cuts=can_cut(definition),
    )


def _parse(path: Path, content: bytes) -> tuple[dict, dict[str, int]]:
    """The tokenizer.json, without truncation and padding, and its whole vocabulary."""
    try:
        definition = {**json.loads(content), "truncation": None, "padding": None}
        vocabulary = build(content.decode()).get_vocab(with_added_tokens=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no tokenizer.json that `tokenizers` {tokenizers.__version__} reads: {error}"
        ) from error
    if definition["model"].get("dropout"):
        raise InputError(f"{path} has BPE dropout: it encodes at random. Set model.dropout to null in it.")
    return {**definition, "added_tokens": definition.get("added_tokens") or []}, vocabulary


def _end_of_text(path: Path, vocabulary: dict[str, int], named: str | None) -> str:
    if named is None:
        named = next((token for token in END_OF_TEXT if token in vocabulary), None)
    if named in vocabulary:
        return named
    what = f"has no token {named!r}" if named else "names no end-of-text token and has none of " + " ".join(END_OF_TEXT)
    raise InputError(
        f"the tokenizer {path} {what}. Say which token ends a document: `tokenizer: {{path:, end_of_text:}}`."
    )


def _try(
    path: Path, definition: dict, token: str, number: int
) -> tuple[str, tokenizers.Tokenizer, dict[str, np.ndarray]]:
    """The tokenizer that reads control tokens as text, as JSON and built, and the ids that it gives for every probe.

    Raises InputError if it fails on one, or gives for one the id `number` of the token that is to end documents.
    """
    names = [token, *(added["content"] for added in definition["added_tokens"])]
    probes = [*PROBES, *(form for name in names for form in literal_forms(name))]
    try:
        text, reference = as_text(definition, token)
        expected = dict(zip(probes, encode_slowly(reference, probes), strict=True))
    except RunError as error:
        raise InputError(f"the tokenizer {path} fails on a batch of trial texts: {error}") from error
    if any(number in ids for ids in expected.values()):
        raise InputError(
            f"{token!r} cannot end documents: the tokenizer {path} gives the same id for ordinary text. "
            "Name another token: `tokenizer: {path:, end_of_text:}`."
        )
    return text, reference, expected


def _fast(
    definition: str, reference: tokenizers.Tokenizer, expected: dict[str, np.ndarray]
) -> tuple[fastokens.Tokenizer | None, str]:
    """The fast tokenizer, or None and the reason."""
    library = f"fastokens {version('fastokens')}"
    try:
        fast = build_fast(definition)
    except ValueError as error:
        return None, f"{library} does not support this tokenizer ({error}); tokenizers is slower"
    for probe, ids in expected.items():
        if not np.array_equal(encode(fast, reference, [probe])[0], ids):
            return None, f"{library} differs on {probe!r}; tokenizers is slower"
    return fast, ""


def check_sample(tokenizer: Tokenizer, texts: pa.LargeStringArray, encoded: Encoded, count: int) -> None:
    """Compares up to `count` evenly spaced documents with `tokenizers`, which is the reference.

    Raises RunError naming the first document whose ids differ, or that `tokenizers` cannot encode.
    """
    if tokenizer.backend == "tokenizers":
        return
    sizes = text_sizes(texts)
    for row in np.unique(np.linspace(0, len(texts) - 1, min(count, len(texts)), dtype=np.int64)):
        if sizes[row] > COMPARED_BYTES:
            continue
        text = texts[int(row)].as_py()
        (expected,) = encode_slowly(tokenizer._reference, [text], int(row))
        if not np.array_equal(encoded.ids[encoded.offsets[row] : encoded.offsets[row + 1] - 1], expected):
            raise RunError(
                f"fastokens and tokenizers give different ids for document {row} of this batch, which begins "
                f"{text[:80]!r}. Please report it with the text and the tokenizer."
            )
