import re
import string

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow import signals, transforms
from zydaflow.signals import Resources

SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
COUNTED = "bookmark|comment|download|downvote|follower|like|quote|reply|repost|retweet|share|upvote|view"
COUNTER = re.compile(rf"\W*\d[\d.,]*[kmb]?\s+(?:(?:{COUNTED})s?|replies)\W*")


def goes(line: str) -> bool:
    capitals = sum(c.isupper() for c in line) > len(line) / 2
    numbers = all(c.isspace() or c.isdecimal() for c in line)
    return capitals or numbers or len(line.split()) == 1 or bool(COUNTER.fullmatch(line.translate(SMALL)))


def edited(line: str) -> str:
    low = line.translate(SMALL)
    pieces, at = [], 0
    while (found := low.find("items in cart", at)) >= 0:
        pieces, at = [("".join(pieces) + line[at:found]).rstrip()], found + len("items in cart")
    line = ("".join(pieces) + line[at:]).strip()
    if line.translate(SMALL).endswith("read more..."):
        line = line[: -len("read more...")].rstrip()
    return line[len("sign-in") :].lstrip() if line.translate(SMALL).startswith("sign-in") else line


def twin(text: str) -> tuple[str, int]:
    """The corrected text, and the words of its flagged lines."""
    kept, flagged = [], 0
    for line in text.split("\n"):
        bare, words = line.strip(), len(line.split())
        if not bare:
            kept.append(line)
            continue
        left = "" if goes(bare) else edited(bare) if words <= 10 else bare
        flagged += words if left != bare else 0
        kept += [line] if left == bare else [left] if left else []
    return "\n".join(kept), flagged


def refinedweb(texts):
    return transforms.apply(["refinedweb"], pa.array(texts, pa.large_string()))


def flagged(texts):
    raw = pa.array(texts, pa.large_string())
    return signals.measure(["refinedweb.flagged_word_fraction"], raw, raw, Resources())[0].to_pylist()


PIECES = [
    "\n",
    "\r\n",
    " ",
    "\u00a0",
    "\u3000",
    "3",
    "٣",
    "1,5",
    "K",
    "m ",
    " likes",
    "LIKE",
    "Replies",
    "reply",
    "·",
    "- ",
]
PIECES += [
    "items in cart",
    " ITEMS in Cart",
    "Read more...",
    "read more…",
    "Sign-in",
    "sign-in ",
    "É",
    "é",
    "x",
    "two words",
]
PIECES += ["a b c d e f", "I", "_", "x\n\ny z", "ſign-in", "li\u212aes"]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=800)
def test_equals_line_after_line(texts):
    assert refinedweb(["3 likes", *texts])[1:].to_pylist() == [twin(text)[0] for text in texts]
    assert flagged(texts) == [twin(text)[1] / max(len(text.split()), 1) for text in texts]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("ALMOST ALL of it", None),
        ("HALF half", "HALF half"),  # 4 of 9 characters
        ("12 345", None),
        ("12.5 345", "12.5 345"),
        ("3 likes", None),
        ("1.5K Likes!", None),
        ("• 12,345 comments", None),
        ("3 people", "3 people"),
        ("3 likes here", "3 likes here"),
        ("Home", None),
        ("Sign-in or register", "or register"),
        ("Please sign-in or register", "Please sign-in or register"),
        ("The whole story. Read more...", "The whole story."),
        ("Read more... of the story", "Read more... of the story"),
        ("There are 3 items in cart today", "There are 3 today"),
        ("items in cart", None),
        ("a b c d e f g Read more...", "a b c d e f g"),
        ("a b c d e f g h i Read more...", "a b c d e f g h i Read more..."),  # eleven words
        ("  two  words ", "  two  words "),
        ("", ""),
    ],
)
def test_lines(line, left):
    before, after = "A line that stays.", "And another one."
    corrected = [before, after] if left is None else [before, left, after]
    assert refinedweb([f"{before}\n{line}\n{after}"]).to_pylist() == ["\n".join(corrected)]


def test_share_of_flagged_words():
    assert flagged(["Nine words are here, and this is one line\n3 likes\nHome", "", " ", None]) == [3 / 12, 0, 0, 0]


def test_nothing_to_correct_is_no_copy():
    texts = pa.array(["two words", None, "", " \n\n a b\r\n"], pa.large_string())
    assert transforms.apply(["refinedweb"], texts) is texts


def test_slices_and_nulls():
    texts = pa.array(["x", None, "two words\nx", "", "y"], pa.large_string())
    assert transforms.apply(["refinedweb"], texts[1:]).to_pylist() == [None, "two words", "", ""]
