import re

from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.kernels.automaton import Pattern, build, count_patterns
from zydaflow.kernels.characters import character_classes

ALPHABET = st.sampled_from("ab é№\u00a0\n")
LITERALS = st.tuples(st.text(ALPHABET, min_size=1, max_size=5), st.integers(0, 2), st.booleans())


def counts_of(text, patterns, groups):
    counts = [0] * groups
    for literal, group, anchored in patterns:
        counts[group] += len(re.findall(re.escape(literal) + (r"\s*\Z" if anchored else ""), text))
    return counts


@given(st.lists(LITERALS, min_size=1, max_size=8), st.lists(st.text(ALPHABET, max_size=30), max_size=4))
@settings(derandomize=True, deadline=None, max_examples=600)
def test_counts(as_buffers, patterns, texts):
    automaton = build([Pattern(literal.encode(), *rest) for literal, *rest in patterns])
    groups = 1 + max(group for _, group, _ in patterns)
    counts = count_patterns(*as_buffers(texts), automaton, character_classes())
    assert counts.tolist() == [counts_of(text, patterns, groups) for text in texts]


def test_a_match_does_not_cross_documents(as_buffers):
    automaton = build([Pattern(b"ab", 0), Pattern(b"b", 1, anchored=True)])
    counts = count_patterns(*as_buffers(["xa", "b", "", "ab \n", " "]), automaton, character_classes())
    assert counts.tolist() == [[0, 0], [0, 1], [0, 0], [1, 1], [0, 0]]


def test_equal_literals_count_each(as_buffers):
    automaton = build([Pattern(b"a", 0), Pattern(b"a", 0), Pattern(b"a", 1)])
    assert count_patterns(*as_buffers(["aa"]), automaton, character_classes()).tolist() == [[4, 2]]
