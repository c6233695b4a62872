"""The documents on which other tools are compared: real ones, and the small texts whose values are known by hand."""

from pathlib import Path

import pytest
import yaml
from realtexts import read_texts

TABLES = Path(__file__).parent.parent / "signals" / "tables"
OF_EACH = 36  # documents of a dataset
LONGEST = 60_000  # characters, since other tools do some 0.2 MB/s


def _spread(texts: list[str]) -> list[str]:
    return texts[:: max(1, len(texts) // OF_EACH)][:OF_EACH]


@pytest.fixture(scope="session")
def real(shared_data) -> list[str]:
    """Some documents of each dataset, spread evenly over it."""
    datasets = [read_texts(path) for path in sorted((shared_data / "corpus").iterdir())]
    return [text for texts in datasets for text in _spread([t for t in texts if t.strip() and len(t) <= LONGEST])]


@pytest.fixture(scope="session")
def small() -> list[str]:
    """The texts of all tables of signals that have words."""
    tables = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.yaml"))]
    texts = {row["text"] for table in tables for rows in table.values() for row in rows}
    return sorted(text for text in texts if text.split() and len(text) <= LONGEST)


@pytest.fixture(scope="session")
def documents(real, small) -> list[str]:
    return real + small
