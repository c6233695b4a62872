import io

from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.classifier.documents import Example
from zydaflow.classifier.examples import Examples

WORDS = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1, max_size=3)


def shuffled(path, examples, seed=1, pieces=1):
    path.unlink(missing_ok=True)
    pool = Examples(path)
    for piece in range(pieces):
        pool.add(examples[piece::pieces], seed)
    return pool.shuffled()


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.builds(Example, WORDS, st.booleans()), min_size=1, max_size=30))
def test_each_line_once_and_none_that_is_good_and_bad(tmp_path_factory, examples):
    path = tmp_path_factory.mktemp("examples") / "lines"
    good, bad = ({line for line, its in examples if its == label} for label in (True, False))
    found = list(shuffled(path, examples).read())
    assert sorted(found) == sorted([(line, True) for line in good - bad] + [(line, False) for line in bad - good])
    assert list(shuffled(path, examples[::-1], pieces=2).read()) == found  # whatever order they come in


def test_the_seed_says_the_order(tmp_path):
    examples = [Example(f"text {at}", at % 2 == 0) for at in range(50)]
    first, again, other = (list(shuffled(tmp_path / "lines", examples, seed).read()) for seed in (1, 1, 2))
    assert first == again != other
    assert sorted(first) == sorted(other)


def test_a_tenth_of_each_label_is_left_out(tmp_path):
    examples = [Example(f"text {at}", at < 20) for at in range(120)]
    training, held_out = shuffled(tmp_path / "lines", examples).split()
    assert (held_out.good.sum(), (~held_out.good).sum()) == (2, 10)
    assert sorted([*training.read(), *held_out.read()]) == sorted(examples)


def test_what_fasttext_is_given(tmp_path):
    written = io.StringIO()
    shuffled(tmp_path / "lines", [Example("one __label__bad two", True)]).write(written)
    assert written.getvalue() == "__label__good one  bad two\n"
