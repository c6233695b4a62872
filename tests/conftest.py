"""Fixtures that more than one folder of tests uses."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real text and known answers, which lies beside the checkout and not in it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the folder of real data is not at {SHARED_DATA}")
    return SHARED_DATA
