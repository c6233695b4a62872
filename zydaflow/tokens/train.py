"""A tokenizer of one's own: byte-level BPE, trained on a sample of the text."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from zydaflow.errors import RecipeError

END_OF_TEXT = "<|endoftext|>"
# A word (bytes without a space) counts in pieces of this many characters: merging costs the length of each word that
# holds the pair, and one word of a megabyte took minutes. No piece of this length could become a token.
LONGEST_WORD = 256
LONGEST_TEXT = 1_000_000  # characters of a document that count: the library takes some 20 times their bytes


def train(texts: Iterable[pa.LargeStringArray], vocab_size: int) -> str:
    """The content of a tokenizer.json: GPT-2's form, <|endoftext|> as id 0, at most `vocab_size` ids.

    The same texts give the same content. Raises RecipeError if `vocab_size` cannot hold the 256 bytes.
    """
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if vocab_size <= len(alphabet):
        raise RecipeError(
            f"tokenizer.train.vocab_size: {vocab_size} ids cannot hold 256 bytes and {END_OF_TEXT}: give 257 or more"
        )
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.FixedLength(LONGEST_WORD)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    starts = (pc.utf8_slice_codeunits(batch, 0, LONGEST_TEXT).to_pylist() for batch in texts)
    tokenizer.train_from_iterator(starts, trainer)
    tokenizer.pre_tokenizer = words
    return tokenizer.to_str()
