"""Every signal that a text alone determines, on small texts whose values were worked out by hand."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from zydaflow import signals
from zydaflow.signals import SIGNALS, Resources

FOLDER = Path(__file__).parent / "tables"
TABLES = [
    (path.name, *table)
    for path in sorted(FOLDER.glob("*.yaml"))
    for table in yaml.safe_load(path.read_text("utf-8")).items()
]
OF_A_MODEL = {"language", "language_score"}


@pytest.mark.parametrize(("file", "name", "rows"), TABLES, ids=[name for _, name, _ in TABLES])
def test_values_are_right(file, name, rows):
    texts = pa.array([row["text"] for row in rows], pa.large_string())
    values = signals.measure([name], texts, texts, Resources())[name].to_pylist()
    right = [float(Fraction(str(row["value"]))) for row in rows]
    assert len(rows) >= 3
    assert dict(zip(texts.to_pylist(), values, strict=True)) == pytest.approx(
        dict(zip(texts.to_pylist(), right, strict=True)), rel=0, abs=1e-12
    )


def test_every_signal_has_a_table():
    names = [name for _, name, _ in TABLES]
    assert len(names) == len(set(names))
    assert set(SIGNALS) - OF_A_MODEL == set(names)
