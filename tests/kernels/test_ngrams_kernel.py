from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.ngrams import LONGEST, TOP, Repetition, repetition
from zydaflow.kernels.words import hash_words, split

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


def top(words: list[str], n: int) -> list[int]:
    [(gram, count)] = Counter(grams(words, n)).most_common(1) or [((), 0)]
    return [count, characters(gram)]


def duplicates(words: list[str], n: int) -> list[int]:
    counted = Counter(grams(words, n))
    twice = [(i, gram) for i, gram in enumerate(grams(words, n)) if counted[gram] > 1]
    inside = {i + k for i, _ in twice for k in range(n)}
    return [
        skipped(words, n),
        sum(characters(gram) for _, gram in twice),
        sum(len(words[i]) for i in inside),
        sum(map(characters, grams(words, n))),
    ]


def found(as_buffers, texts: list[str]) -> Repetition:
    text = as_buffers(texts)
    words = split(text)
    return repetition(*hash_words(*text, words), words.bounds)


@given(st.lists(WORDS, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_ngrams(as_buffers, documents):
    result = found(as_buffers, [" ".join(words) for words in documents])
    assert result.top.tolist() == [[top(words, n) for n in range(2, TOP + 1)] for words in documents]
    sizes = range(TOP + 1, LONGEST + 1)
    assert result.duplicates.tolist() == [[duplicates(words, n) for n in sizes] for words in documents]


def test_one_word_again_and_again(as_buffers):
    """All n-grams are one, which skips from its second occurrence on."""
    result = found(as_buffers, ["ab " * 100_001])
    assert result.top[0].tolist() == [[100_000, 4], [99_999, 6], [99_998, 8]]
    assert result.duplicates[0, 0].tolist() == [200_000, 999_970, 200_002, 999_970]


def test_many_words(as_buffers):
    """70,000 different words, twice: every n-gram but those across the middle occurs twice."""
    result = found(as_buffers, [" ".join([*map(str, range(10_000, 80_000))] * 2)])
    assert result.top[0].tolist() == [[2, 10], [2, 15], [2, 20]]
    assert result.duplicates[0, 0].tolist() == [14_000 * 25, 2 * 69_996 * 25, 140_000 * 5, 139_996 * 25]


def test_no_documents(as_buffers):
    assert found(as_buffers, []).top.shape == (0, 3, 2)
