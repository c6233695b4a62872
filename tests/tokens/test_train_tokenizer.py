import subprocess
import sys
import time

import pyarrow as pa
import pytest
import tokenizers

from zydaflow.errors import RecipeError
from zydaflow.tokens import load, train

TEXTS = [f"word{n % 7} and word{n % 11}, {n} Straßen\n  漢字 <|endoftext|>\n" for n in range(200)]


def large(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def test_the_same_texts_give_the_same_bytes_however_they_are_batched() -> None:
    once = train([large(TEXTS)], 600)
    assert once == train((large(TEXTS[n : n + 7]) for n in range(0, 200, 7)), 600)


def test_the_same_bytes_in_other_processes() -> None:
    program = f"""
import pyarrow as pa
from zydaflow.tokens import train
print(train([pa.array({TEXTS!r}, pa.large_string())], 600), end="")
"""
    outs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed, threads in (("0", "1"), ("1", "2"))
    }
    assert outs == {train([large(TEXTS)], 600)}


def test_it_is_a_byte_level_tokenizer_that_the_fast_library_reads(tmp_path) -> None:
    content = train([large(TEXTS)], 400)
    (tmp_path / "tokenizer.json").write_text(content)
    tokenizer = load(str(tmp_path))
    assert (tokenizer.backend, tokenizer.end_of_text, tokenizer.vocab_size) == ("fastokens", 0, 400)
    text = "word3 unseen \x00 é 漢 <|endoftext|> 👩"
    ids = tokenizer.encode(large([text])).ids.tolist()
    assert ids.count(0) == 1
    assert tokenizers.Tokenizer.from_str(content).decode(ids[:-1], skip_special_tokens=False) == text
    assert len(tokenizer.encode(large(["word3 and word3,"])).ids) < 8


def test_small_text_gives_a_smaller_vocabulary() -> None:
    assert tokenizers.Tokenizer.from_str(train([large(["ab"])], 1000)).get_vocab_size() == 258
    assert tokenizers.Tokenizer.from_str(train([], 1000)).get_vocab_size() == 257


def test_a_vocabulary_that_cannot_hold_the_bytes_is_refused() -> None:
    assert tokenizers.Tokenizer.from_str(train([large(TEXTS)], 257)).get_vocab_size() == 257
    with pytest.raises(RecipeError, match=r"tokenizer\.train\.vocab_size: 256 "):
        train([large(TEXTS)], 256)


@pytest.mark.parametrize("text", ["a" * 1_000_000, "abcdefghij" * 100_000, "=" * 1_000_000, " " * 1_000_000])
def test_a_word_of_a_megabyte_takes_bounded_time(text: str) -> None:
    begin = time.perf_counter()
    train([large([text])], 1000)
    assert time.perf_counter() - begin < 20  # 1 s here; as one word it took minutes
