import json
import os
import subprocess
import sys

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.recipe.fingerprint import fingerprint

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def test_known_values():
    assert fingerprint() == "39347ff402b6c53d831154110e30ac6a"  # in every version, or finished runs look changed
    canonical = b'["sketch",1,{"size":13,"unit":"word"},0.1]'
    assert fingerprint("sketch", 1, {"unit": "word", "size": 13}, 0.1) == xxhash.xxh3_128_hexdigest(canonical)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(VALUES, VALUES)
def test_equal_exactly_where_the_json_is_equal(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one) == fingerprint(other)) == same


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.dictionaries(st.text(), VALUES, min_size=2, max_size=5))
def test_the_order_of_keys_does_not_count(mapping):
    assert fingerprint(dict(reversed(mapping.items()))) == fingerprint(mapping)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.dictionaries(st.text(), SCALARS, min_size=1, max_size=5), st.data())
def test_any_change_of_a_value_counts(mapping, data):
    key = data.draw(st.sampled_from(sorted(mapping)))
    changed = mapping | {key: [mapping[key]]}
    assert fingerprint(changed) != fingerprint(mapping)
    assert fingerprint({name: value for name, value in mapping.items() if name != key}) != fingerprint(mapping)


def test_near_values_differ():
    values = [0, 0.0, -0.0, False, "0", None, "", [], {}, [[]], 1, True, 1.0, "1", 0.1, 0.1 + 2**-56]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint("a", "b") != fingerprint("ab") != fingerprint(["a", "b"])


def test_tuples_count_as_lists():
    assert fingerprint(("a", ("b",))) == fingerprint(["a", ["b"]])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        fingerprint(value)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"a": 1j}, {1: "a"}, [{None: 1}]])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(TypeError):
        fingerprint(value)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_hash_seed_of_python_does_not_count(seed):
    code = "from zydaflow.recipe.fingerprint import fingerprint as f; print(f({'b': 1, 'a': 2.5}, ['é']))"
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == fingerprint({"a": 2.5, "b": 1}, ["é"])
