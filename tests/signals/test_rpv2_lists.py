import json
import re
import string
import unicodedata

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals
from zydaflow.signals import Resources

STOP, BAD = "rpv2.stop_word_fraction", "rpv2.bad_word_count"
ENTRIES = ["a", "the", "É", "don't", "a b a", "b", "lorem", "A.B"]
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def measure(name, texts, resources):
    array = pa.array(texts, pa.large_string())
    return signals.measure([name], array, array, resources)[0].to_pylist()


def normal_words(text: str) -> list[str]:
    return unicodedata.normalize("NFD", text.translate(NO_PUNCTUATION).lower()).split()


TEXTS = st.lists(st.sampled_from([*ENTRIES, "The", "e\u0301", "ab", "'", "-", "\n", ".", "中"]), max_size=12).map(
    " ".join
)


def test_definitions(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps(ENTRIES), encoding="utf-8")
    resources = Resources(bad_words=str(path), stop_words=str(path))
    entries = {tuple(normal_words(entry)) for entry in ENTRIES}

    @given(st.lists(TEXTS | TEXTS.map(lambda text: text.replace(" ", "")), max_size=4))
    @settings(derandomize=True, deadline=None, max_examples=400)
    def check(texts):
        for text, fraction, count in zip(
            texts, measure(STOP, texts, resources), measure(BAD, texts, resources), strict=True
        ):
            pieces = re.findall(r"\w+|[^\w\s]+", text)
            assert fraction == (sum(piece in ENTRIES for piece in pieces) / len(pieces) if pieces else 0)
            words = normal_words(text)
            grams = [tuple(words[i : i + size]) for size in (1, 2, 3) for i in range(len(words) - size + 1)]
            assert count == sum(gram in entries for gram in grams)

    check()


def test_lists_that_can_match_nothing(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("...\n", encoding="utf-8")
    resources = Resources(bad_words=str(path), stop_words=str(path))
    assert measure(STOP, ["a ..."], resources) == [0]
    assert measure(BAD, ["a ..."], resources) == [0]


def test_fingerprint_follows_the_list(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("one\n", encoding="utf-8")
    for name, changed in (
        (STOP, Resources(stop_words=str(path))),
        (BAD, Resources(bad_words=str(path))),
    ):
        assert signals.fingerprint([name], Resources()) != signals.fingerprint([name], changed)
