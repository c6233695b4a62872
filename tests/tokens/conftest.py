"""Small tokenizers of several kinds, made on the spot."""

from pathlib import Path

import pyarrow as pa
import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from zydaflow.tokens import train

SENTENCES = [
    "It's a small text of 123 words, and it isn't about a < b / c > d.",
    "def f(x):\n        return x ** 2 - 1.5e-3\n",
    "Ein Straßencafé, une crème brûlée; 漢字かな交じり文 👩‍👩‍👧",
    "   spaces   and\ttabs\r\nand lines\n\n\n",
]


def large(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level BPE tokenizer.json of our own trainer."""
    path = tmp_path_factory.mktemp("trained") / "tokenizer.json"
    path.write_text(train([large(SENTENCES * 5)], 400))
    return path


@pytest.fixture(scope="session", params=["unigram", "wordlevel", "wordpiece"])
def looks_words_up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer whose model finds control tokens in its vocabulary, and which fastokens does not support."""
    special = ["<pad>", "</s>", "<unk>"]
    if request.param == "unigram":
        tokenizer = tokenizers.Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=120, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    elif request.param == "wordlevel":
        tokenizer = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.WordLevelTrainer(vocab_size=60, special_tokens=special, show_progress=False)
    else:
        tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES * 5, trainer)
    path = tmp_path_factory.mktemp(request.param) / "tokenizer.json"
    tokenizer.save(str(path))
    return path
