"""fastText models of a few bytes."""

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

ONE_END = {"</s>": 1.0}  # the word that ends every line


def write_model(path: Path, labels: Iterable[str], words: Mapping[str, float] = ONE_END) -> str:
    """A fastText model of one dimension, with a softmax: each word has a vector of this number, each label one of 1 or,
    if `labels` is a mapping, of its number. Without labels it is one of word vectors. Returns its path.

    Of a line, the numbers of its words and of `</s>` have the mean h. A label of number w then has e^(w·h) parts.
    """
    outputs = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels, 1.0)
    kind = 3 if outputs else 2  # supervised, skip-gram
    settings = struct.pack("<12id", 1, 5, 1, 1, 0, 1, 3, kind, 0, 0, 0, 100, 0.0)
    entries = [word.encode() + struct.pack("<bqb", 0, 1, 0) for word in words]
    entries += [f"__label__{label}".encode() + struct.pack("<bqb", 0, 1, 1) for label in outputs]
    sizes = struct.pack("<3i2q", len(entries), len(words), len(outputs), len(entries), -1)
    matrices = b"".join(
        struct.pack(f"<?2q{len(numbers)}f", False, len(numbers), 1, *numbers)
        for numbers in (words.values(), outputs.values() or [1.0])
    )
    path.write_bytes(struct.pack("<2i", 793712314, 12) + settings + sizes + b"".join(entries) + matrices)
    return str(path)
