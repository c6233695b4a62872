"""Fixtures for runs without Ray."""

from pathlib import Path

import pyarrow as pa
import pytest
from inputs import datasets

from zydaflow import tokens


@pytest.fixture(scope="session")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """The recipe entries of three small datasets."""
    return datasets(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer that does not depend on what stays."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    path.write_text(tokens.train([pa.array(["lanmor tisner dakselpun rim"] * 3, pa.large_string())], 300))
    return str(path)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a run writes."""
    return tmp_path / "out"
