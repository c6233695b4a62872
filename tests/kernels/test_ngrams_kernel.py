from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.ngrams import ALL, COUNT, COVERED, REPEATED, SKIPPED, TOP, count_ngrams
from zydaflow.kernels.words import hash_words, split

LONGEST = 10
WORDS = st.lists(st.sampled_from(["a", "b", "cc", "中文", "ß"]), max_size=60)


def grams(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def characters(gram: tuple[str, ...]) -> int:
    return len("".join(gram))


def skipped(words: list[str], n: int) -> int:
    met, total, i = set(), 0, 0
    while i <= len(words) - n:
        gram = tuple(words[i : i + n])
        total += characters(gram) if gram in met else 0
        i += n if gram in met else 1
        met.add(gram)
    return total


def covered(words: list[str], n: int) -> int:
    met, inside = set(), set()
    for i, gram in enumerate(grams(words, n)):
        inside |= set(range(i, i + n)) if gram in met else set()
        met.add(gram)
    return sum(len(words[i]) for i in inside)


def twin(words: list[str], n: int) -> dict[int, int]:
    counted = Counter(grams(words, n))
    top, count = counted.most_common(1)[0] if counted else ((), 0)
    return {
        TOP: characters(top),
        COUNT: count,
        SKIPPED: skipped(words, n),
        REPEATED: sum(characters(gram) * count for gram, count in counted.items() if count > 1),
        COVERED: covered(words, n),
        ALL: sum(characters(gram) * count for gram, count in counted.items()),
    }


@given(st.lists(WORDS, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_ngrams(as_buffers, documents):
    text = as_buffers([" ".join(words) for words in documents])
    words = split(text)
    found = count_ngrams(*hash_words(*text, words), words.bounds, LONGEST)
    assert found.shape == (len(documents), LONGEST + 1, 6)
    for document, rows in zip(documents, found.tolist(), strict=True):
        assert rows[:2] == [[0] * 6] * 2
        for n in range(2, LONGEST + 1):
            assert dict(enumerate(rows[n])) == twin(document, n)


def test_a_long_repetition(as_buffers):
    """All n-grams are one, which skips from its second occurrence on."""
    text = as_buffers(["ab " * 100_001])
    words = split(text)
    rows = count_ngrams(*hash_words(*text, words), words.bounds, 5)[0]
    assert rows[5].tolist() == [10, 99_997, 200_000, 999_970, 200_000, 999_970]


def test_many_words(as_buffers):
    """More than a table of 16 bits: 70,000 different words, twice."""
    text = as_buffers([" ".join(map(str, range(10_000, 80_000))) * 2])
    words = split(text)
    rows = count_ngrams(*hash_words(*text, words), words.bounds, 3)[0]
    assert np.diff(words.bounds).tolist() == [139_999]
    assert rows[2, COUNT] == 2
    assert rows[2, TOP] == 10
    assert rows[3, SKIPPED] == 69_996 // 3 * 15
