"""Fixtures for runs without Ray."""

from pathlib import Path

import pytest
from inputs import datasets


@pytest.fixture(scope="session")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """The recipe entries of three small datasets."""
    return datasets(tmp_path_factory.mktemp("inputs"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a run writes."""
    return tmp_path / "out"
