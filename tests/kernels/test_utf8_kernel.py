from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.characters import character_classes, count_letters
from zydaflow.kernels.utf8 import code_point, code_point_before, count_characters, prefix_ends

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5)


@given(st.characters(exclude_categories=["Cs"]))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_code_points_forward_and_backward(as_buffers, character):
    data, offsets = as_buffers([f"é{character}x"])
    at, width = offsets[0] + 2, len(character.encode())
    assert code_point(data, at) == (ord(character), width)
    assert code_point_before(data, at + width) == (ord(character), width)


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_character_counts(as_buffers, texts):
    assert count_characters(*as_buffers(texts)).tolist() == [len(text) for text in texts]


@given(TEXTS, st.integers(1, 12))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_prefixes_end_between_characters(as_buffers, texts, limit):
    data, offsets = as_buffers(texts)
    ends = prefix_ends(data, offsets, limit)
    prefixes = [data[start:end].tobytes().decode() for start, end in zip(offsets, ends, strict=False)]
    assert prefixes == [text.encode()[:limit].decode(errors="ignore") for text in texts]


@given(TEXTS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_letters(as_buffers, texts):
    data, offsets = as_buffers(texts)
    counts = count_letters(data, offsets[:-1], offsets[1:], character_classes())
    assert counts.tolist() == [sum(map(str.isalpha, text)) for text in texts]
